import { appendFile, rename, stat } from "node:fs/promises";
import type { AuditTarget } from "./trail.ts";

/** Bytes of a file before it is renamed to FILE.1, in place of the one before. */
const LARGEST = 256 * 1024 * 1024;
const DEADLINE = 10_000;

/** A file with one notification a line. It and the one before have 512 MiB at most. */
export function auditFile(path: string, largest = LARGEST): AuditTarget {
  return {
    async write(lines) {
      const size = await stat(path).then(
        (found) => found.size,
        () => 0,
      );
      if (size >= largest) await rename(path, `${path}.1`);
      await appendFile(path, `${lines.join("\n")}\n`, { mode: 0o600 });
    },
  };
}

/** A server that takes a notification as the body of a POST, one a request; after a failure some come again. */
export function auditUrl(url: string): AuditTarget {
  return {
    async write(lines, signal) {
      for (const body of lines) {
        const response = await fetch(url, {
          method: "POST",
          headers: { "content-type": "application/json" },
          body,
          redirect: "error",
          signal: AbortSignal.any([signal, AbortSignal.timeout(DEADLINE)]),
        });
        await response.body?.cancel();
        if (!response.ok) throw new Error(`the audit target responds with ${response.status}`);
      }
    },
  };
}
