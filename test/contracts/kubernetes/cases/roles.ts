import { createHash } from "node:crypto";
import { expect } from "vitest";
import type { CaseGroup, Context, Json } from "../interface.ts";
import { at, done } from "./shorthands.ts";

const ROLES = "/apis/rbac.authorization.k8s.io/v1/clusterroles";

/** Every single thing that a role gives, in order. */
async function gifts(c: Context, name: string): Promise<string[]> {
  const role = await done(c.api.get(`${ROLES}/${name}`));
  const list = (rule: Json, field: string): string[] => (rule[field] as string[] | undefined) ?? [];
  const all = ((role["rules"] as Json[] | null) ?? []).flatMap((rule) =>
    list(rule, "verbs").flatMap((verb) => [
      ...list(rule, "nonResourceURLs").map((path) => `${verb} ${path}`),
      ...list(rule, "apiGroups").flatMap((g) => list(rule, "resources").map((r) => `${verb} ${g}/${r}`)),
    ]),
  );
  return [...new Set(all)].sort();
}

function digest(all: readonly string[]): string {
  return createHash("sha256").update(all.join("\n")).digest("hex").slice(0, 16);
}

export const roles: CaseGroup = {
  title: "bootstrap RBAC roles",
  cases: [
    ...(
      [
        ["cluster-admin", 2, "7942b2e67f776d2f", ["* */*", "* *"]],
        [
          "system:aggregate-to-view",
          177,
          "eb4a27fde8023c20",
          ["get /pods/log", "list networking.k8s.io/ingresses", "watch batch/cronjobs"],
        ],
        [
          "system:aggregate-to-edit",
          224,
          "3b9b349353041455",
          ["create /secrets", "update apps/deployments/scale", "create /pods/eviction"],
        ],
        ["system:aggregate-to-admin", 17, "83f2354bc14c58c3", ["create rbac.authorization.k8s.io/rolebindings"]],
        ["system:basic-user", 3, "0f2b9c271f01ab8f", ["create authentication.k8s.io/selfsubjectreviews"]],
        ["system:discovery", 11, "321859d075890493", ["get /openapi/*"]],
        ["system:public-info-viewer", 5, "a2b6ebd39085d6ca", ["get /version"]],
        ["system:monitoring", 9, "ac611b35e9c39e59", ["get /metrics", "get /livez/*"]],
        ["system:auth-delegator", 2, "da72b5cd04158a7d", ["create authentication.k8s.io/tokenreviews"]],
        ["system:service-account-issuer-discovery", 4, "500c08d32b88fca7", ["get /openid/v1/jwks"]],
        ["system:node-bootstrapper", 4, "6d1f0dbaf7cb051e", ["create certificates.k8s.io/certificatesigningrequests"]],
        ["system:node-proxier", 17, "a2fb72e35b8b83c0", ["watch discovery.k8s.io/endpointslices"]],
        ["system:certificates.k8s.io:certificatesigningrequests:nodeclient", 1, "dac1c6784855a3fa", []],
        ["system:certificates.k8s.io:certificatesigningrequests:selfnodeclient", 1, "7bf4fbe2af7e6c6a", []],
      ] as const
    ).map(([name, count, hash, some]) => ({
      name: `role ${name} grants what kube-apiserver's role does, and no more`,
      async run(c: Context) {
        const all = await gifts(c, name);
        expect(all).toEqual(expect.arrayContaining([...some]));
        expect({ name, count: all.length, digest: digest(all) }, all.join("\n")).toEqual({ name, count, digest: hash });
      },
    })),
    ...["view", "edit", "admin"].map((name) => ({
      name: `ClusterRole ${name} is aggregated from the roles with its label`,
      async run({ api }: Context) {
        const role = await done(api.get(`${ROLES}/${name}`));
        const matchLabels = { [`rbac.authorization.k8s.io/aggregate-to-${name}`]: "true" };
        expect(at(role, "aggregationRule", "clusterRoleSelectors")).toEqual([{ matchLabels }]);
        expect(at(role, "metadata", "labels", "kubernetes.io/bootstrapping")).toBe("rbac-defaults");
      },
    })),
  ],
};
