import { generateKeyPairSync } from "node:crypto";
import { expect, test } from "vitest";
import type { Call } from "../contract/call.ts";
import { clusterWith } from "../testing/objects.ts";
import { accountKeys } from "./account-keys.ts";
import { issueToken } from "./token-request.ts";

const { privateKey } = generateKeyPairSync("ec", { namedCurve: "P-256" });
const KEYS = accountKeys(privateKey.export({ type: "pkcs8", format: "pem" }).toString(), []);
const named = { namespace: "ns", name: "robot", uid: "uid-robot" };

test("a token request may say whose account it is, and is one", async () => {
  const stored = { "/serviceaccounts": [{ metadata: named }] };
  const cluster = { ...(await clusterWith(stored)), issuer: "iss", accountKeys: KEYS };
  const resource = { storage: "/serviceaccounts", group: "", plural: "serviceaccounts" };
  const call = { cluster, resource, namespace: "ns", name: "robot", annotate: () => {} } as unknown as Call;
  const answer = await issueToken(call, { kind: "TokenRequest", metadata: named });
  expect(answer["metadata"]).toMatchObject(named);
  await expect(issueToken(call, { kind: "Other" })).rejects.toThrow(
    "the body must be an authentication.k8s.io/v1 TokenRequest",
  );
});
