/* A process that a request holds for ever, for the watchdog's test. */
import { ThreadTime } from "../contract/thread-time.ts";
import { startWatchdog } from "./watchdog.ts";

/** This file, for the test to start. */
export const WATCHDOG_CHILD = import.meta.filename;

function forEver(): void {
  for (;;);
}

if (import.meta.main) {
  const thread = new ThreadTime();
  startWatchdog({ thread, near: Infinity, abortAfter: 1500 });
  setTimeout(() => thread.run({ cluster: "mallory", request: "GET /x" }, forEver), 500);
}
