import { generateKeyPairSync } from "node:crypto";
import type { ControlPlaneSpec } from "../../runtime.ts";
import { SECRET } from "./played-cluster.ts";

const { privateKey } = generateKeyPairSync("ec", { namedCurve: "P-256" });
const serviceAccountKey = privateKey.export({ type: "pkcs8", format: "pem" }).toString();
const pair = { certificate: "CERTIFICATE", key: SECRET };

/** A control plane as pods, with two API servers, but for what a test changes. */
export const specOf = (changes: Partial<ControlPlaneSpec> = {}): ControlPlaneSpec => ({
  id: "default.web",
  version: "v1.33.2",
  runtime: "Pods",
  authority: pair,
  frontProxy: pair,
  serviceAccountKey,
  endpoint: { host: "", port: 0 },
  serviceCidr: "10.96.0.0/12",
  dnsDomain: "cluster.local",
  names: [],
  limits: { objects: 50_000, bytes: 2 ** 30 },
  authentication: {},
  worker: "shared",
  replicas: 2,
  ...changes,
});
