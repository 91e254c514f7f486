import { CausewayError, silentLog, VirtualClock } from "@causeway/foundation";
import { expect, test } from "vitest";
import type { Backups } from "../backup/backups.ts";
import { restoreUntilDone } from "./restore.ts";

test.for<[code: string, pause: number]>([
  ["BACKUP_INCOMPLETE", 1_800_000],
  ["BACKUP_EXCEEDS_BUDGET", 1_800_000],
  ["BACKUP_STORE_FAILED", 500],
])("a restore that fails with %s is tried again after %d ms", async ([code, pause]) => {
  const stopping = new AbortController();
  const clock = new VirtualClock();
  let attempts = 0;
  const backups: Pick<Backups, "restore"> = {
    restore() {
      attempts += 1;
      return Promise.reject(new CausewayError(code, "it fails"));
    },
  };
  const access = { addresses: [], port: 1, serverName: "", authority: { certificate: "", key: "" }, password: "" };
  const keyspace = () => ({ access, prefix: "/" });
  const using = { dir: "/does/not/exist", backups: backups as Backups, clock, log: silentLog };
  const failed: string[] = [];
  const running = restoreUntilDone(
    using,
    { restore: { folder: "f" }, keyspace },
    (message) => void failed.push(message),
    stopping.signal,
  );
  const settled = () => new Promise((done) => setImmediate(done));
  await settled();
  expect([attempts, failed]).toEqual([1, [`it fails (${code})`]]);
  await clock.advance(pause - 1);
  await settled();
  expect(attempts).toBe(1);
  await clock.advance(1);
  await settled();
  expect(attempts).toBe(2);
  stopping.abort(new Error("stopped"));
  await running;
});
