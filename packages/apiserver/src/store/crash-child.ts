import { openStore } from "./store.ts";

/** The program that the crash test runs and kills: `node crash-child.ts DIR ROUND`. */
export const CRASH_CHILD = import.meta.filename;

/**
 * Writes as fast as it can, for ever. Prints "open REVISION", then "NAME REVISION" for each write that was
 * acknowledged.
 */
async function writeForever(dir: string, round: string): Promise<never> {
  const store = openStore({ dir });
  process.stdout.write(`open ${store.revision}\n`);
  for (let i = 0; ; i += 1) {
    const batch = Array.from({ length: 5 }, async (_, j) => {
      const name = `r${round}-${i}-${j}`;
      const key = { cluster: "", resource: "/configmaps", namespace: "default", name };
      const stored = await store.create(key, { apiVersion: "v1", kind: "ConfigMap", metadata: { name } });
      process.stdout.write(`${name} ${stored.revision}\n`);
    });
    await Promise.all(batch);
  }
}

if (import.meta.main) await writeForever(process.argv[2] ?? "", process.argv[3] ?? "");
