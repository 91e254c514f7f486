import { generateKeyPairSync } from "node:crypto";
import type { PoolState } from "../pool/state.ts";
import type { ControlPlaneSpec } from "../../runtime.ts";
import { SECRET } from "./played-cluster.ts";
import { commonSpec } from "../../testing/common-spec.ts";

const { privateKey } = generateKeyPairSync("ec", { namedCurve: "P-256" });
const serviceAccountKey = privateKey.export({ type: "pkcs8", format: "pem" }).toString();
const pair = { certificate: "CERTIFICATE", key: SECRET };

/** Settings with an etcd of its own. */
export const own = (settings: ControlPlaneSpec["pods"] = {}): NonNullable<ControlPlaneSpec["pods"]> => ({
  ...settings,
  datastore: { type: "Own", ...settings.datastore },
});

/** A control plane as pods, with two API servers, but for what a test changes. */
export const specOf = (changes: Partial<ControlPlaneSpec> = {}): ControlPlaneSpec => ({
  ...commonSpec,
  version: "v1.33.2",
  runtime: "Pods",
  authority: pair,
  frontProxy: pair,
  serviceAccountKey,
  endpoint: { host: "", port: 0 },
  replicas: 2,
  pods: own(),
  ...changes,
});

/** A shared etcd that is ready. */
export function poolOf(): PoolState {
  const namespaceName = "hcp-etcd-0123456789";
  const serverName = `etcd.${namespaceName}.svc`;
  const access = { addresses: ["10.0.0.9"], port: 2379, serverName, authority: pair, password: SECRET };
  return { ready: true, namespaceName, servers: [`https://etcd-0.${serverName}:2379`], authority: pair, access };
}
