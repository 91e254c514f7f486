import { generateKeyPairSync, X509Certificate } from "node:crypto";
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createAuthority } from "@causeway/foundation";
import { loadKubeconfig } from "@causeway/kubernetes";
import { expect, test } from "vitest";
import type { ControlPlaneSpec } from "../runtime.ts";
import { writePki } from "./pki.ts";

test("controllers of a control plane that joins an etcd reach its API where it listens, and trust it there", async () => {
  const dir = mkdtempSync(join(tmpdir(), "pki-"));
  const { privateKey } = generateKeyPairSync("rsa", { modulusLength: 2048 });
  try {
    const spec = {
      authority: await createAuthority({ commonName: "ca", lifetime: 86_400_000 }),
      serviceAccountKey: privateKey.export({ type: "pkcs8", format: "pem" }).toString(),
      endpoint: { host: "192.0.2.9", port: 6443 },
      names: ["192.0.2.10"],
      serviceCidr: "10.254.0.0/16",
      dnsDomain: "cluster.local",
      join: { stage: "Serve", members: [], peerHost: "192.0.2.1" },
    } as unknown as ControlPlaneSpec;
    await writePki(dir, spec, { api: 16_443, etcd: 1, peer: 2 } as Parameters<typeof writePki>[2], Date.now());
    const read = (name: string): string => readFileSync(join(dir, name), "utf8");
    for (const program of ["controller-manager", "scheduler"])
      expect(loadKubeconfig({ text: read(`${program}.conf`) }).server).toBe("https://192.0.2.1:16443");
    const certificate = new X509Certificate(read("apiserver.crt"));
    for (const address of ["192.0.2.1", "192.0.2.9", "192.0.2.10", "127.0.0.1"])
      expect(certificate.checkIP(address)).toBe(address);
  } finally {
    rmSync(dir, { recursive: true, force: true });
  }
});
