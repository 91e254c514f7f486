import { mkdtempSync, rmSync, statSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, expect, test, vi } from "vitest";
import { createClient, loadKubeconfig, Namespace, Secret } from "@causeway/kubernetes";
import { TIMEOUT, causeway } from "../support/processes.ts";

// Processes start slowly next to others on a busy machine.
vi.setConfig({ testTimeout: TIMEOUT, hookTimeout: TIMEOUT });

const dirs: string[] = [];
afterEach(() => dirs.splice(0).forEach((dir) => rmSync(dir, { recursive: true, force: true })));

/** Starts it, gives an administrator's client to `use`, and stops it; answers the exit code. */
async function served(
  dir: string,
  installed: boolean,
  use: (client: ReturnType<typeof createClient>) => Promise<void>,
): Promise<number | null> {
  const started = causeway(["apiserver", "--state", dir], { installed });
  try {
    await started.until(/KUBECONFIG=/);
    const client = createClient(loadKubeconfig({ path: join(dir, "admin.kubeconfig") }));
    await use(client);
    await client.close();
    return await started.stop("SIGTERM");
  } finally {
    await started.stop("SIGKILL");
  }
}

test("`causeway apiserver` serves alone, from sources and as it is installed, and continues from what either left", async () => {
  const dir = mkdtempSync(join(tmpdir(), "apiserver-command-"));
  dirs.push(dir);
  const secret = { apiVersion: "v1", kind: "Secret", metadata: { name: "kept", namespace: "default" } } as const;
  const codes = [
    await served(dir, true, async (client) => {
      expect((await client.list(Namespace)).items.map((n) => n.metadata.name)).toContain("kube-system");
      await client.create(Secret, { ...secret, data: { a: "Yg==" } });
    }),
    await served(dir, false, async (client) => {
      expect((await client.get(Secret, { namespace: "default", name: "kept" })).data).toEqual({ a: "Yg==" });
      await client.create(Secret, { ...secret, metadata: { ...secret.metadata, name: "second" } });
    }),
    await served(dir, true, async (client) => {
      expect((await client.get(Secret, { namespace: "default", name: "second" })).metadata.name).toBe("second");
    }),
  ];
  expect(codes).toEqual([143, 143, 143]);
  expect(statSync(join(dir, "admin.kubeconfig")).mode & 0o777).toBe(0o600);
});

test("`causeway apiserver` on a state folder that is in use says so", async () => {
  const dir = mkdtempSync(join(tmpdir(), "apiserver-command-"));
  dirs.push(dir);
  await served(dir, true, async () => {
    const wrong = causeway(["apiserver", "--port", "x"], { installed: true });
    expect(await wrong.ended).toBe(2);
    const second = causeway(["apiserver", "--state", dir], { installed: true });
    expect(await second.ended).toBe(2);
    expect(second.output()).toContain("is in use by another process");
  });
});
