// Logs in, then goes where one wanted to go: to a page of this site, never elsewhere.
import { send, notice } from "/assets/common.js";

document.querySelector("#login").addEventListener("submit", async (event) => {
  event.preventDefault();
  const password = document.querySelector("#password");
  try {
    await send("/api/v1/session", { password: password.value });
    const to = new URLSearchParams(location.search).get("to") ?? "/";
    location.assign(/^\/[a-z]*(\?board=[a-z0-9-]+)?$/.test(to) ? to : "/");
  } catch (problem) {
    notice(problem.message);
    password.select();
  }
});
