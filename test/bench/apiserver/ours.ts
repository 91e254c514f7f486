import { fork } from "node:child_process";
import { generateKeyPairSync } from "node:crypto";
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { join, resolve } from "node:path";
import { createAuthority } from "@causeway/foundation";
import { startedAfter, stop, writeClient, type Subject } from "./subject.ts";

const DAY = 86_400_000;
const SERVER_CHILD = resolve(import.meta.dirname, "server-child.js");

/** What the server's process tells. */
export type Said =
  | { readonly is: "ready"; readonly url: string }
  | { readonly is: "made"; readonly milliseconds: readonly number[] };

export interface Ours extends Subject {
  /** Makes so many logical clusters; answers how long each took, in milliseconds. */
  makeClusters(count: number): Promise<readonly number[]>;
}

/** Our server in a process of its own, on a new state folder in `base`. */
export async function startOurs(base: string): Promise<Ours> {
  const files = mkdtempSync(join(base, "ours-"));
  const state = join(files, "state");
  // Both servers find their authority and the key of their tokens, as an installer leaves them.
  const authority = await createAuthority({ commonName: "bench", lifetime: DAY });
  await writeClient(files, authority);
  const accounts = generateKeyPairSync("ec", {
    namedCurve: "P-256",
    publicKeyEncoding: { type: "spki", format: "pem" },
    privateKeyEncoding: { type: "pkcs8", format: "pem" },
  });
  const found = { "ca.crt": authority.certificate, "ca.key": authority.key, "sa.key": accounts.privateKey };
  mkdirSync(join(state, "management"), { recursive: true, mode: 0o700 });
  for (const [name, content] of Object.entries(found)) {
    writeFileSync(join(state, "management", name), content, { mode: 0o600 });
  }
  const begun = performance.now();
  const child = fork(SERVER_CHILD, [state], {
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
