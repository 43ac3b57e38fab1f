// What tests of pages share: a browser, pages whose faults are kept, a check of accessibility.
import assert from "node:assert/strict";
import { existsSync, readFileSync } from "node:fs";
import { createRequire } from "node:module";
import { chromium } from "playwright-core";

const axe = readFileSync(createRequire(import.meta.url).resolve("axe-core/axe.min.js"), "utf8");
const program = [process.env.CHROMIUM, "/usr/bin/chromium", "/usr/bin/chromium-browser", "/usr/bin/google-chrome"].find((path) => path && existsSync(path));

/** A browser at a service; `faults` are what its pages complain of. */
export async function launch(address) {
  const browser = await chromium.launch({ executablePath: program, args: ["--no-sandbox"] });
  const faults = [];
  async function open(path, options = {}) {
    const context = await browser.newContext({ locale: "en-GB", acceptDownloads: true, viewport: { width: 1280, height: 900 }, ...options });
    const page = await context.newPage();
    page.on("pageerror", (error) => faults.push(`${path}: ${error}`));
    page.on("console", (message) => message.type() === "error" && faults.push(`${path}: ${message.text()}`));
    page.on("request", (request) => request.url().startsWith(address) || /^(data|blob):/.test(request.url()) || faults.push("asks for " + request.url()));
    // A page with a stream of pictures is never loaded to its end.
    await page.goto(address + path, { waitUntil: "domcontentloaded" });
    return page;
  }
  return { browser, faults, open };
}

/** No finding of axe that is serious or critical. */
export async function accessible(page, what) {
  // Run by the browser's own door, which no content policy closes.
  await page.evaluate(axe + "; undefined");
  const found = await page.evaluate(() => window.axe.run(document, { resultTypes: ["violations"] }));
  const grave = found.violations.filter((one) => ["serious", "critical"].includes(one.impact));
  const told = grave.map((one) => `${one.id}: ${one.nodes.slice(0, 3).map((node) => node.html.slice(0, 140) + " | " + node.failureSummary.split("\n").slice(1, 2)).join("\n    ")}`);
  assert.deepEqual(told, [], what);
}
