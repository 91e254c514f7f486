import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { startApiServer } from "@causeway/apiserver";
import { issueCertificate } from "@causeway/foundation";
import { AUDIT_POLICY } from "./audit-policy.ts";
import { startIssuer } from "./issuer.ts";
import { rawClient } from "./raw.ts";
import type { Target } from "./interface.ts";

/** Revisions that are kept: more than any case goes back by. */
const HISTORY = 300;
const WRITERS = 20;

/** Writes until what was is history no more. */
async function outlive({ url, ca, authority }: Pick<Target, "url" | "ca" | "authority">): Promise<void> {
  const { certificate, key } = await issueCertificate(authority, {
    commonName: "writer",
    organizations: ["system:masters"],
    usages: ["client"],
    lifetime: 3_600_000,
  });
  const api = rawClient({ url, ca, certificate, key });
  const path = "/api/v1/namespaces/kube-public/configmaps";
  const write = async (writer: number): Promise<void> => {
    const name = `history-${writer}`;
    await api.post(path, { metadata: { name } });
    for (let i = 0; i < (2 * HISTORY) / WRITERS; i += 1) {
      await api.patch(`${path}/${name}`, "merge", { data: { i: String(i) } });
    }
    await api.delete(`${path}/${name}`);
  };
  await Promise.all(Array.from({ length: WRITERS }, (_, writer) => write(writer)));
  api.close();
}

/** Our own API server, all in memory but for what it records. */
export async function startEmbedded(): Promise<Target> {
  const dir = mkdtempSync(join(tmpdir(), "causeway-contract-"));
  const auditLog = join(dir, "audit.log");
  const issuer = await startIssuer();
  const audit = { policy: AUDIT_POLICY, log: { file: auditLog } };
  const authentication = { configuration: issuer.configuration };
  const server = await startApiServer({ management: { audit, authentication }, history: HISTORY });
  const { url, authority } = server.management;
  const close = async (): Promise<void> => {
    await server.close();
    await issuer.close();
    rmSync(dir, { recursive: true, force: true });
  };
  const compact = (): Promise<void> => outlive({ url, ca: authority.certificate, authority });
  return { name: "causeway", url, ca: authority.certificate, authority, auditLog, issuer, compact, close };
}
