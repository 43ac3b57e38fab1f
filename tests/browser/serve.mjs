// Uses `crokeye serve` in Chromium as a referee and a hall would.
//   node serve.mjs ADDRESS OUT_DIR      writes pictures of the pages and an export to OUT_DIR
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { launch } from "./page.mjs";

const [address, out] = process.argv.slice(2);
const { browser, faults, open } = await launch(address);

// The sample round is proposed, its close call enlarged, with the margin in mm and the values on both sides of the line.
const page = await open("/referee");
const proposal = page.locator(".proposal");
await proposal.waitFor({ timeout: 60_000 });
const confirm = proposal.locator("button.confirm");
assert.equal(await confirm.textContent(), "Confirm 55 : 70");
const doubt = proposal.locator(".doubt");
assert.equal(await doubt.count(), 1);
assert.match(await doubt.textContent(), /1\.\d mm inside the 15 line, ± 0\.\d mm|mm on or beyond the 15 line/);
assert.deepEqual(await doubt.locator("button.tap").allTextContents(), ["15", "10"]);
assert.equal(await doubt.locator("button[aria-pressed=true]").textContent(), "10");
assert.ok(await page.locator("#marks polygon.ring").count() >= 4);
await page.screenshot({ path: join(out, "referee-proposed.png"), fullPage: true });

// It is settled by one tap; a missed disc is added and removed again, a side changed and changed back, by key too.
await doubt.locator("button.tap", { hasText: "15" }).click();
assert.equal(await confirm.textContent(), "Confirm 60 : 70");
await proposal.locator("summary").click();
await proposal.getByRole("button", { name: "Add a missed disc: Ann 20" }).click();
assert.equal(await confirm.textContent(), "Confirm 80 : 70");
await proposal.locator("[data-row]").last().getByRole("button", { name: "Remove" }).click();
const row = proposal.locator("[data-row]").first();
const was = await row.locator("select").first().inputValue();
await row.locator("select").first().selectOption(was === "0" ? "1" : "0");
assert.notEqual(await confirm.textContent(), "Confirm 60 : 70");
await row.locator("select").first().selectOption(was);
await proposal.getByRole("button", { name: /More: 20s set aside, Bob/ }).press("Enter");
assert.equal(await confirm.textContent(), "Confirm 60 : 90");
await page.keyboard.press("Shift+Tab");
await proposal.getByRole("button", { name: /Less: 20s set aside, Bob/ }).press("Enter");
await page.screenshot({ path: join(out, "referee-edited.png"), fullPage: true });
await page.locator("#author").fill("Carol");
await page.locator("#author").press("Tab");
await confirm.click();
await proposal.waitFor({ state: "detached" });
await page.locator("#rounds tbody tr").waitFor();
assert.match(await page.locator("#rounds tbody tr").textContent(), /\+0 60.*\+2 70/);

// Undo reaches across the round's end: the proposal is back, and is confirmed as it was counted.
await page.locator("#undo").click();
await page.locator(".proposal").waitFor();
assert.ok(!(await page.locator("#rounds-panel").isVisible()));
await page.locator(".proposal button.confirm").click();
await page.locator("#rounds tbody tr").waitFor();

// A correction and a voiding ask for a reason and are shown as such.
const first = page.locator("#rounds tbody tr").first();
await first.getByRole("button", { name: "Correct" }).click();
await page.locator("dialog [name=total0]").fill("75");
await page.locator("dialog [name=reason]").fill("it was inside");
await page.screenshot({ path: join(out, "referee-dialog.png") });
await page.locator("dialog button.main").click();
await first.locator(".badge", { hasText: "corrected" }).waitFor();
await first.getByRole("button", { name: "Void" }).click();
await page.locator("dialog [name=reason]").press("Escape");
assert.equal(await first.locator(".badge", { hasText: "void" }).count(), 0);

// The history has it all: the photo with its count, the correction with its author, the log, an export.
const history = await open("/history");
await history.locator("#match article .board polygon.ring").first().waitFor({ state: "attached" });
assert.match(await history.locator("#match article").first().textContent(), /Corrected: it was inside \(Carol\)/);
assert.ok(await history.locator(".plot rect").count() >= 2);
const [download] = await Promise.all([history.waitForEvent("download"), history.locator("[data-format=json]").click()]);
await download.saveAs(join(out, "export.json"));
const saved = JSON.parse(readFileSync(join(out, "export.json"), "utf8"));
assert.deepEqual([saved.schema, saved.rounds[0].sides[0].total, saved.rounds[0].author], ["crokeye.match/1", 75, "Carol"]);
await history.locator("summary", { hasText: "Log" }).click();
assert.match(await history.locator("#match details").textContent(), /undone/);

// A new match; a refusal is said in words.
await page.locator("#new-panel summary").click();
await page.locator("[name=a]").fill("Fay/Gus");
await page.locator("[name=b]").fill("Hal");
await page.locator("[name=colour_a]").fill("red");
await page.locator("[name=colour_b]").fill("black");
await page.locator("[name=rules]").selectOption("wcc");
await page.locator("#new button.main").click();
await page.locator("#step", { hasText: "Match 2" }).waitFor();
await page.locator("#undo:disabled").waitFor();
await page.locator("#redo").click();
await page.locator("#notice").waitFor();
assert.ok((await page.locator("#notice").textContent()).length > 10);

// French, chosen by a link and kept; the scoreboard follows what happens without being loaded anew.
const board = await open("/");
await board.locator("#sides .side").first().waitFor();
await board.locator("header a[lang=fr]").click();
await board.locator("#running .count").first().waitFor();
assert.equal(await board.locator("html").getAttribute("lang"), "fr");
assert.equal(await board.locator("nav a[aria-current]").textContent(), "Tableau des scores");
await board.goto(address + "/referee", { waitUntil: "domcontentloaded" });
assert.equal(await board.locator("h2").first().textContent(), "Plateau en direct");
const french = board.locator(".proposal button.confirm");
await french.waitFor({ timeout: 60_000 });
assert.match(await french.textContent(), /^Confirmer \d+ : \d+$/);
assert.match(await board.locator(".doubt").textContent(), /1,\d mm .*ligne 15/);
await board.screenshot({ path: join(out, "referee-french.png"), fullPage: true });

// Every control has a name, every picture a description, every page one heading of the first rank.
const unnamed = () =>
  [...document.querySelectorAll("button, a, input, select, img, svg[role=img]")]
    .filter((node) => !node.closest("[hidden], details:not([open]) > :not(summary)"))
    .filter((node) => !(node.getAttribute("aria-label") || node.textContent.trim() || node.labels?.length || node.hasAttribute("alt")))
    .map((node) => node.outerHTML.slice(0, 80));
await Promise.all(["/", "/boards", "/referee", "/history", "/overlay", "/login"].map(async (path) => {
  const seen = await open(path);
  await seen.waitForTimeout(300);
  assert.deepEqual(await seen.evaluate(unnamed), [], path);
  assert.equal(await seen.locator("h1").count(), 1, path);
  assert.equal(await seen.locator("main").count(), 1, path);
  await seen.keyboard.press("Tab");
  if (path !== "/overlay") assert.equal(await seen.evaluate(() => document.activeElement.className), "skip", path);
  await seen.context().close();
}));

// From a phone to a projector, by day and by night: nothing is wider than the screen.
const ready = { boards: "#boards .count", scoreboard: "#running .count", overlay: "#running .count", projector: "#running .count", referee: ".proposal button.confirm", history: "#match .panel" };
const paths = { boards: "/boards", scoreboard: "/", referee: "/referee", history: "/history", overlay: "/overlay", projector: "/?projector" };
async function look(width, colorScheme) {
  const seen = await open("/login", { viewport: { width, height: width === 360 ? 740 : 1000 }, colorScheme });
  for (const [name, path] of Object.entries(paths)) {
    if ((name === "projector" || name === "overlay") && (width === 360 || colorScheme === "dark")) continue;
    await seen.goto(address + path, { waitUntil: "domcontentloaded" });
    await seen.locator(ready[name]).first().waitFor();
    await seen.waitForTimeout(100);
    const wide = await seen.evaluate(() => document.documentElement.scrollWidth - innerWidth);
    assert.ok(wide <= 0, `${name} at ${width}: ${wide} px too wide`);
    await seen.screenshot({ path: join(out, `${name}-${width}-${colorScheme}.png`), fullPage: name !== "projector", omitBackground: name === "overlay" });
  }
  await seen.context().close();
}
await Promise.all([360, 1280, 1920].flatMap((width) => ["light", "dark"].map((scheme) => look(width, scheme))));
// The refusal above was meant; browsers note it as an error of their own.
assert.deepEqual(faults.filter((fault) => !fault.includes("status of 422")), []);
await browser.close();
console.log("ok");
