// Opens an audit's report in Chromium and uses it as an auditor would.
//   node report.mjs REPORT OUT_DIR      writes decisions.json, report.pdf and pictures of the page to OUT_DIR
import assert from "node:assert/strict";
import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { chromium } from "playwright-core";

const [report, out] = process.argv.slice(2);
const program = [process.env.CHROMIUM, "/usr/bin/chromium", "/usr/bin/chromium-browser", "/usr/bin/google-chrome"].find((path) => path && existsSync(path));
const browser = await chromium.launch({ executablePath: program, args: ["--no-sandbox"] });
const address = pathToFileURL(report).href;

async function open(options) {
  const context = await browser.newContext({ locale: "en-GB", acceptDownloads: true, ...options });
  const page = await context.newPage();
  const faults = [];
  page.on("pageerror", (error) => faults.push(String(error)));
  page.on("console", (message) => message.type() === "error" && faults.push(message.text()));
  page.on("request", (request) => /^(file|data|blob):/.test(request.url()) || faults.push("asks for " + request.url()));
  await page.goto(address);
  await page.waitForSelector("article");
  return { page, faults };
}
const cards = (page) => page.locator("article").count();

const { page, faults } = await open({ viewport: { width: 1280, height: 900 } });
const tally = JSON.parse(await page.locator("#audit").textContent()).tally;

// Disagreements stand first; filters show their number of cards, by mouse and by key.
assert.equal(await cards(page), tally.pictures);
assert.equal(await page.locator("article").first().locator(".badge").first().getAttribute("class"), "badge disagrees");
for (const button of await page.locator("#filters button").all()) {
  await button.click();
  assert.equal(await cards(page), Number(await button.locator("b").textContent()), await button.textContent());
}
const names = await page.locator("#filters button").evaluateAll((all) => all.map((button) => button.dataset.filter));
await page.locator("body").press(String(names.indexOf("disagrees") + 1));
assert.equal(await cards(page), tally.disagree);
await page.locator("body").press("1");
assert.equal(await cards(page), tally.pictures);

// Search.
const first = await page.locator("article").first().getAttribute("data-name");
await page.locator("body").press("/");
await page.keyboard.type(first.slice(0, -4));
assert.ok((await cards(page)) >= 1 && (await page.locator("article").first().getAttribute("data-name")) === first);
await page.locator("#search").fill("no such picture");
assert.equal(await cards(page), 0);
await page.locator("#search").fill("");
await page.locator("#search").press("Escape");

// Keys: next and previous, lines on and off, help, the other language.
await page.locator("body").press("j");
await page.locator("body").press("j");
assert.equal(await page.locator("article.current").getAttribute("data-at"), "1");
await page.keyboard.press("k");
assert.equal(await page.locator("article.current").getAttribute("data-at"), "0");
assert.ok(await page.locator("article.current .marks").first().isVisible());
await page.keyboard.press("o");
assert.ok(!(await page.locator("article.current .marks").first().isVisible()));
await page.keyboard.press("o");
await page.keyboard.press("?");
assert.ok(await page.locator("#help").isVisible());
await page.keyboard.press("Escape");
await page.keyboard.press("l");
assert.equal(await page.locator("html").getAttribute("lang"), "fr");
assert.match(await page.locator("#summary").textContent(), /photos :/);
await page.screenshot({ path: join(out, "desktop-french.png") });
await page.locator("body").press("l");

// Every photo is there, and lines and discs lie over it.
await page.evaluate(() => document.querySelectorAll("article").forEach(fill));
const loaded = await page.locator("figure svg image").evaluateAll((all) =>
  Promise.all(all.map((image) => new Promise((done) => {
    const probe = new Image();
    probe.onload = () => done(probe.naturalWidth > 0);
    probe.onerror = () => done(false);
    probe.src = image.getAttribute("href");
  }))));
assert.ok(loaded.length >= tally.pictures - tally.unreadable && loaded.every(Boolean), "a picture does not load");
assert.ok((await page.locator("polygon.disc").count()) >= tally.discs);

// The auditor decides, and takes the decisions along.
const close = page.locator(".closeups [data-disc]").first();
const card = page.locator("article", { has: close }).first();
const name = await card.getAttribute("data-name");
const disc = Number(await close.getAttribute("data-disc"));
await page.locator(".closeups [data-disc] .choose button").first().click();
const chosen = page.locator(`article[data-name="${name}"] [data-disc="${disc}"] button[aria-pressed=true]`);
assert.equal(await chosen.count(), 1);
const value = Number(await chosen.textContent());
// Who and why is asked before anything is saved.
for (const [field, text] of [["#author", "Ann Lee"], ["#reason", "seen on the video"]]) {
  await page.locator("#download").click();
  assert.ok(await page.locator(field).evaluate((input) => input.validity.valueMissing), field);
  await page.locator(field).fill(text);
}
const [download] = await Promise.all([page.waitForEvent("download"), page.locator("#download").click()]);
assert.equal(download.suggestedFilename(), "decisions.json");
await download.saveAs(join(out, "decisions.json"));
const saved = JSON.parse(readFileSync(join(out, "decisions.json"), "utf8"));
assert.equal(saved.schema, "crokeye.decisions/1");
const { picture, decision, author, reason, disc: decided, value: saysValue } = saved.decisions.at(-1);
assert.deepEqual({ picture, decision, author, reason, decided, saysValue },
  { picture: name, decision: "value", author: "Ann Lee", reason: "seen on the video", decided: disc, saysValue: value });

// A decision made here is still here when the page is opened again.
await page.reload();
await page.waitForSelector("article");
await page.locator("#decisions").waitFor({ state: "visible" });
assert.equal(await page.locator("#author").inputValue(), "Ann Lee");
page.once("dialog", (question) => question.dismiss());
await page.locator("#discard").click();
assert.ok(await page.locator("#decisions").isVisible());
page.once("dialog", (question) => question.accept());
await page.locator("#discard").click();
assert.ok(!(await page.locator("#decisions").isVisible()));

// What may be a disc is marked and enlarged like a close disc.
const doubtful = await page.evaluate(() => items.flatMap((item) => item.review.filter((doubt) => doubt.at_mm)).length);
await page.evaluate(() => document.querySelectorAll("article").forEach(fill));
assert.ok(doubtful > 0, "no sample has a doubtful place");
assert.equal(await page.locator("[data-spot] image").count(), doubtful);
assert.equal(await page.locator("figure circle.spot").count(), doubtful);
assert.equal(await page.locator("figure polygon.spot").count(), doubtful);

// French has no English left, and commas in its numbers.
const french = await page.evaluate(() => {
  speak("fr");
  const all = ["the file is a HEIC picture, which this", "the file is a BMP picture: save", "the picture is only 10 x 10 px; a board needs at least 100 px",
    "the picture is 60000 x 60000 px, 3600 megapixels, more than the limit of 120: scale it down", "0.9 mm from the 10 line (±0.92 mm): 10 or 5"].map(told);
  speak("en");
  return all;
});
assert.ok(french.every((sentence) => !/\b(the|picture|file|only|line)\b/.test(sentence)), french.join("\n"));
assert.match(french.at(-1), /0,9 mm.*0,92 mm/);

// Print.
await page.pdf({ path: join(out, "report.pdf"), format: "A4" });
await page.emulateMedia({ media: "print" });
assert.ok(!(await page.locator("#filters").isVisible()));
await page.emulateMedia({ media: "print", colorScheme: "dark" });
const badge = await page.locator(".badge.disagrees").first().evaluate((node) => getComputedStyle(node).backgroundColor);
assert.ok(badge.match(/\d+/g).every((channel) => Number(channel) > 200), `a dark badge on paper: ${badge}`);
await page.evaluate(() => dispatchEvent(new Event("beforeprint")));
assert.equal(await page.locator("details:not([open])").count(), 0);
await page.evaluate(() => dispatchEvent(new Event("afterprint")));
await page.emulateMedia({ media: "screen", colorScheme: "light" });

// Phone and desktop, by day and by night: nothing is wider than the screen.
for (const [device, viewport] of [["desktop", { width: 1280, height: 1000 }], ["phone", { width: 390, height: 844 }]]) {
  for (const colorScheme of ["light", "dark"]) {
    const seen = await open({ viewport, colorScheme, deviceScaleFactor: device === "phone" ? 2 : 1 });
    const wide = await seen.page.evaluate(() => document.documentElement.scrollWidth - innerWidth);
    assert.ok(wide <= 0, `${device}: ${wide} px too wide`);
    await seen.page.evaluate(() => document.querySelectorAll("article").forEach(fill));
    await seen.page.waitForTimeout(200);
    await seen.page.screenshot({ path: join(out, `${device}-${colorScheme}.png`) });
    const open_card = seen.page.locator("article", { has: seen.page.locator(".closeups") }).first();
    await open_card.scrollIntoViewIfNeeded();
    await open_card.screenshot({ path: join(out, `${device}-${colorScheme}-card.png`) });
    faults.push(...seen.faults);
    await seen.page.context().close();
  }
}
assert.deepEqual(faults, []);
await browser.close();
console.log(JSON.stringify({ pictures: tally.pictures, decided: { name, disc, value } }));
