import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { startApiServer } from "@causeway/apiserver";
import { AUDIT_POLICY } from "./audit-policy.ts";
import { startIssuer } from "./issuer.ts";
import type { Target } from "./interface.ts";

/** Our own API server, all in memory but for what it records. */
export async function startEmbedded(): Promise<Target> {
  const dir = mkdtempSync(join(tmpdir(), "causeway-contract-"));
  const auditLog = join(dir, "audit.log");
  const issuer = await startIssuer();
  const audit = { policy: AUDIT_POLICY, log: { file: auditLog } };
  const authentication = { configuration: issuer.configuration };
  const server = await startApiServer({ management: { audit, authentication } });
  const { url, authority } = server.management;
  const close = async (): Promise<void> => {
    await server.close();
    await issuer.close();
    rmSync(dir, { recursive: true, force: true });
  };
  return { name: "causeway", url, ca: authority.certificate, authority, auditLog, issuer, close };
}
