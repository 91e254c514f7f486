import { fork } from "node:child_process";
import { mkdtempSync, rmSync } from "node:fs";
import { join } from "node:path";
import { SERVER_CHILD, type Said } from "./server-child.ts";
import { startedAfter, stop, writeClient, type Subject } from "./subject.ts";

export interface Ours extends Subject {
  /** Makes so many logical clusters; answers how long each took, in milliseconds. */
  makeClusters(count: number): Promise<readonly number[]>;
}

/** Our server in a process of its own, on a new state folder in `base`. */
export async function startOurs(base: string): Promise<Ours> {
  const files = mkdtempSync(join(base, "ours-"));
  const begun = performance.now();
  const child = fork(SERVER_CHILD, [join(files, "state")], {
    stdio: ["ignore", "inherit", "inherit", "ipc"],
    execArgv: ["--max-semi-space-size=4"],
  });
  const next = (): Promise<Said> =>
    new Promise((done, reject) => {
      child.once("message", (said) => done(said as Said));
      child.once("exit", () => reject(new Error("the server ended")));
    });
  const said = await next();
  if (said.is !== "ready") throw new Error("the server is not ready");
  const { url } = said;
  await writeClient(files, said.authority);
  const times = await startedAfter(begun, { url, files });
  return {
    name: "ours",
    url,
    files,
    processes: [child],
    ...times,
    async makeClusters(count) {
      child.send(count);
      const made = await next();
      return made.is === "made" ? made.milliseconds : [];
    },
    async close() {
      await stop(child);
      rmSync(files, { recursive: true, force: true });
    },
  };
}
