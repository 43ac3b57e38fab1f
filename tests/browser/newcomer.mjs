// A newcomer's way: set-up, a replayed round, its close call by a tap, undo across its end, an export, an audit.
//   node newcomer.mjs ADDRESS OUT_DIR PHOTO PHOTO PHOTO      writes pictures of the pages and downloads to OUT_DIR
import assert from "node:assert/strict";
import { readFileSync, writeFileSync } from "node:fs";
import { basename, join } from "node:path";
import { accessible, launch } from "./page.mjs";

const [address, out, ...photos] = process.argv.slice(2);
const { browser, faults, open } = await launch(address);

// Set-up: the board is seen and all is well.
const page = await open("/setup");
await page.locator("#marks polygon.ring").first().waitFor({ state: "attached", timeout: 60_000 });
await page.locator("#troubles .good").waitFor({ timeout: 30_000 });
assert.match(await page.locator("#facts").textContent(), /Sourcesample.*Picture size\d+ × \d+/s);
assert.ok((await page.locator("[name=source] option").allTextContents()).includes("sample round"));

// The board by hand: points are there to be dragged, by mouse and by key; a wrong one is refused with the reason.
await page.locator("[data-tool=points]").click();
const handles = page.locator(".handle");
await handles.first().waitFor();
assert.equal(await handles.count(), 9);
await page.locator("#preview").click();
await page.locator("#keep:not(:disabled)").waitFor({ timeout: 30_000 });
await page.screenshot({ path: join(out, "setup-points.png"), fullPage: true });
await handles.first().hover();
const spot = await handles.first().boundingBox();
await page.mouse.down();
await page.mouse.move(spot.x - 60, spot.y + 10, { steps: 4 });
await page.mouse.up();
assert.ok(await page.locator("#keep").isDisabled(), "a point that moved was not looked at yet");
const moved = await handles.first().boundingBox();
assert.ok(spot.x - moved.x > 40, `${spot.x} ${moved.x}`);
await page.locator("[data-handle=hole]").focus();
for (let i = 0; i < 12; i++) await page.keyboard.press("Shift+ArrowRight");
await page.locator("#preview").click();
await page.locator("#found", { hasText: /line|hole|circle/ }).waitFor({ timeout: 30_000 });
assert.ok(await page.locator("#keep").isDisabled());
await page.locator("[data-tool=look]").click();
await page.locator("[data-tool=points]").click();
await page.locator("#preview").click();
await page.locator("#keep:not(:disabled)").waitFor({ timeout: 30_000 });
await page.locator("#keep").click();
await page.locator("#notice", { hasText: "Kept." }).waitFor();

// A tray is drawn, kept, and taken away again.
await page.locator("[data-tool=tray0]").click();
const picture = await page.locator("#marks").boundingBox();
await page.mouse.move(picture.x + 10, picture.y + 10);
await page.mouse.down();
await page.mouse.move(picture.x + 70, picture.y + 90, { steps: 3 });
await page.mouse.up();
assert.ok(Number(await page.locator("#tray-fields [name=width]").inputValue()) > 20);
await page.locator("#keep-tray").click();
await page.locator("#notice", { hasText: "Done." }).waitFor();
await page.locator("[data-tool=look]").click();
await page.locator("rect.tray.a").waitFor({ state: "attached" });
await page.locator("[data-tool=tray0]").click();
await page.locator("#no-tray").click();
await page.locator("rect.tray").waitFor({ state: "detached" });

// Another camera that is none is refused in words, and the board is watched on.
await page.locator("#camera [name=source]").selectOption("address");
await page.locator("#camera [name=address]").fill("http://127.0.0.1:9/video");
await page.locator("#camera button").click();
await page.locator("#notice", { hasText: /open|picture|cameras/i }).waitFor({ timeout: 60_000 });
await page.locator("#camera [name=source]").selectOption("");
await page.locator("#colours [name=a]").selectOption("red");
await page.locator("#colours button").click();
await page.locator("#notice", { hasText: "both colours" }).waitFor();
await page.locator("[data-tool=points]").click();
await page.locator("#automatic").click();
await page.locator("#notice", { hasText: "by itself" }).waitFor();
await page.locator("#troubles .good").waitFor({ timeout: 60_000 });

// Who plays, and off to the referee's page.
await page.locator("#new [name=format]").selectOption("2,2");
assert.equal(await page.locator("#players input").count(), 4);
await page.locator("#new [name=format]").selectOption("1,1");
await page.locator("#new [name=p00]").fill("Ann");
await page.locator("#new [name=p10]").fill("Bob");
await page.locator("#new [name=c0]").selectOption("red");
await page.locator("#new [name=c1]").selectOption("black");
await page.locator("#new #author").fill("Carol");
await page.screenshot({ path: join(out, "setup.png"), fullPage: true });
await page.locator("#new button.main").click();
await page.waitForURL(/\/referee/);
await page.locator("#step", { hasText: "Match 2" }).waitFor();

// The replayed round is proposed; its close call is settled by a tap, which the log keeps with its reason.
const proposal = page.locator(".proposal");
await proposal.waitFor({ timeout: 120_000 });
const confirm = proposal.locator("button.confirm");
const before = await confirm.textContent();
const taps = proposal.locator(".doubt button.tap");
await proposal.locator(".doubt button.tap[aria-pressed=false]").click();
assert.notEqual(await confirm.textContent(), before);
assert.match(await proposal.locator(".changes").textContent(), /disc \d+: 15 instead of 10/);
await proposal.locator("[data-key=why]").fill("touches on the video");
assert.equal(await taps.count(), 2);
await confirm.click();
await page.locator("#rounds tbody tr").waitFor();

// Undo across the round's end, and on.
await page.locator("#undo").click();
await proposal.waitFor();
await proposal.locator(".doubt button.tap[aria-pressed=false]").click();
await proposal.locator("[data-key=why]").fill("touches on the video");
await proposal.locator("button.confirm").click();
await page.locator("#rounds tbody tr").waitFor();

// History: the change with its reason, statistics, plots, an export.
const history = await open("/history");
await history.locator("#match article .board polygon.ring").first().waitFor({ state: "attached" });
assert.match(await history.locator("#match article").first().textContent(), /Confirmed with changes: disc \d+: 15 instead of 10: touches on the video/);
await history.locator("#players tbody tr").first().waitFor();
assert.equal(await history.locator("#players tbody tr").count(), 2);
assert.ok(await history.locator("#player .chart svg").count() >= 3);
const [download] = await Promise.all([history.waitForEvent("download"), history.locator("[data-format=json]").click()]);
await download.saveAs(join(out, "newcomer.json"));
const saved = JSON.parse(readFileSync(join(out, "newcomer.json"), "utf8"));
assert.match(saved.rounds[0].reason, /touches on the video$/);

// An audit of three photos and a file that is none; a sheet with one wrong row; a decision; the report.
const audit = await open("/audit");
const file = (path) => ({ name: basename(path), mimeType: "image/jpeg", buffer: readFileSync(path) });
await audit.locator("#photos").setInputFiles([...photos.map(file), { name: "note.jpg", mimeType: "image/jpeg", buffer: Buffer.from("no photo") }]);
await audit.locator("#pictures tbody tr").nth(3).waitFor({ timeout: 60_000 });
await audit.locator("#progress-line").waitFor({ state: "hidden", timeout: 60_000 });
await audit.locator("#files a").first().waitFor();
assert.match(await audit.locator("#tally").textContent(), /^Pictures: 4\. .*not counted: 1\./);
const session = await audit.evaluate(() => location.hash.slice(1));
const counted = await (await audit.request.get(`${address}/api/v1/audits/${session}`)).json();
const rows = counted.pictures.filter((one) => one.sides.length).map((one, at) => `${one.source},${one.sides[0].total + (at === 0 ? 5 : 0)},${one.sides[1].total}`);
await audit.locator("#sheet").setInputFiles({ name: "scores.csv", mimeType: "text/csv", buffer: Buffer.from(["picture,a,b", ...rows, "lost.jpg,1,2"].join("\n")) });
await audit.locator("#remarks li", { hasText: "row 5" }).waitFor();
assert.match(await audit.locator("#sheet-name").textContent(), /scores\.csv/);
const card = audit.locator(".picture").first();
await card.locator(".board svg polygon.ring").first().waitFor({ state: "attached" });
await audit.locator("#author").fill("Dan");
await audit.locator("#reason").fill("seen there");
await card.locator("summary").click();
await card.getByRole("button", { name: /^Add a missed disc: .* 5$/ }).first().click();
await audit.locator(".picture", { hasText: "decided by Dan" }).waitFor();
await audit.screenshot({ path: join(out, "audit.png"), fullPage: true });
const files = [];
for (const name of ["report.html", "results.csv", "results.xlsx"]) {
  const [saved] = await Promise.all([audit.waitForEvent("download", { timeout: 60_000 }), audit.locator("#files a", { hasText: name }).click()]);
  await saved.saveAs(join(out, name));
  files.push(readFileSync(join(out, name)));
}
assert.ok(files[0].toString().includes("seen there") && files[0].length > 100_000);
assert.ok(files[1].toString().split("\n").length >= 5 && files[2].subarray(0, 2).toString() === "PK");
assert.ok(files[1].toString().includes(basename(photos[0])));
// A reload goes on with it; in French too.
await audit.goto(`${address}/audit?lang=fr#${session}`, { waitUntil: "domcontentloaded" });
await audit.locator("#tally", { hasText: "Photos : 4." }).waitFor();
assert.match(await audit.locator("#pictures").textContent(), /en désaccord|d'accord/);

// The report opens without the service.
const report = await browser.newPage();
await report.goto("file://" + join(out, "report.html"));
await report.locator("article, .card, #list").first().waitFor();
await report.close();

// Nothing serious for who hears or presses keys, by day and by night; nothing wider than the screen.
const paths = { scoreboard: "/", referee: "/referee", history: "/history", audit: `/audit#${session}`, setup: "/setup", overlay: "/overlay", login: "/login" };
const ready = { scoreboard: "#running .count", referee: "#running .count", history: "#player .chart", audit: "#pictures tbody tr", setup: "#facts dd", overlay: "#running .count", login: "#password" };
for (const colorScheme of ["light", "dark"]) {
  for (const width of [360, 1280, 1920]) {
    const seen = await open("/login?lang=" + (width === 360 ? "fr" : "en"), { viewport: { width, height: width === 360 ? 740 : 1000 }, colorScheme });
    for (const [name, path] of Object.entries(paths)) {
      await seen.goto("about:blank");
      await seen.goto(address + path, { waitUntil: "domcontentloaded" });
      await seen.locator(ready[name]).first().waitFor({ timeout: 30_000 });
      await seen.waitForTimeout(150);
      const wide = await seen.evaluate(() => document.documentElement.scrollWidth - innerWidth);
      assert.ok(wide <= 0, `${name} at ${width}: ${wide} px too wide`);
      if (width !== 1920) await accessible(seen, `${name}, ${colorScheme}, ${width} px`);
      await seen.screenshot({ path: join(out, `${name}-${width}-${colorScheme}.png`), fullPage: true, omitBackground: name === "overlay" });
    }
    await seen.context().close();
  }
}
writeFileSync(join(out, "newcomer.txt"), "ok\n");
// Refusals were meant; browsers note them as errors of their own.
assert.deepEqual(faults.filter((fault) => !/status of (422|429|503)/.test(fault)), []);
await browser.close();
console.log("ok");
