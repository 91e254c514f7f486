import { expect } from "vitest";
import type { CaseGroup } from "../interface.ts";
import { at } from "./shorthands.ts";

const PROTOBUF = "application/com.github.proto-openapi.spec.v2@v1.0+protobuf";
const merged = { "x-kubernetes-patch-strategy": "merge" };
const keyed = (key: string) => ({ ...merged, "x-kubernetes-patch-merge-key": key });
const listMap = (...keys: readonly string[]) => ({
  "x-kubernetes-list-type": "map",
  "x-kubernetes-list-map-keys": keys,
});

/** Fields of built-in kinds, and how clients merge them by the documents. */
const MARKS: readonly (readonly [definition: string, field: string, marks: Record<string, unknown>])[] = [
  ["core.v1.PodSpec", "containers", { ...listMap("name"), ...keyed("name") }],
  ["core.v1.Container", "ports", { ...listMap("containerPort", "protocol"), ...keyed("containerPort") }],
  ["core.v1.PodSpec", "imagePullSecrets", { ...listMap("name"), ...keyed("name") }],
  ["core.v1.PodSpec", "volumes", { "x-kubernetes-patch-strategy": "merge,retainKeys" }],
  ["core.v1.PodSpec", "nodeSelector", { "x-kubernetes-map-type": "atomic" }],
  ["apps.v1.DeploymentSpec", "strategy", { "x-kubernetes-patch-strategy": "retainKeys" }],
];

export const openApi: CaseGroup = {
  title: "OpenAPI documents",
  cases: [
    {
      name: "/openapi/v2 comes in protobuf to who asks for it, as kubectl before 1.28 does",
      async run({ api }) {
        const { code, text, headers } = await api.get("/openapi/v2", { headers: { accept: PROTOBUF } });
        expect(code).toBe(200);
        expect(headers["content-type"]).toBe(PROTOBUF.replace("@", "."));
        // The first member is the version of the specification; names are in it as they are.
        expect(text.slice(0, 5)).toBe("\n\u00032.0");
        expect(text).toContain("io.k8s.api.apps.v1.Deployment");
      },
    },
    ...["v2", "v3"].map((version) => ({
      name: `OpenAPI ${version} of built-in kinds says how their fields merge`,
      async run({ api }: Parameters<CaseGroup["cases"][number]["run"]>[0]) {
        const paths = version === "v2" ? ["/openapi/v2"] : ["/openapi/v3/api/v1", "/openapi/v3/apis/apps/v1"];
        const texts = await Promise.all(paths.map(async (path) => (await api.get(path)).text));
        const known = texts.map((text) => JSON.parse(text) as unknown);
        for (const [definition, field, marks] of MARKS) {
          const name = `io.k8s.api.${definition}`;
          const found = known.map((d) => at(d, "definitions", name) ?? at(d, "components", "schemas", name));
          const one = found.find((schema) => schema !== undefined);
          expect(at(one, "properties", field), `${definition} ${field}`).toMatchObject(marks);
        }
      },
    })),
    {
      name: "OpenAPI v2 says which patches a kind takes",
      async run({ api }) {
        const document = JSON.parse((await api.get("/openapi/v2")).text) as unknown;
        const path = "/apis/apps/v1/namespaces/{namespace}/deployments/{name}";
        expect(at(document, "paths", path, "patch", "consumes")).toEqual(
          expect.arrayContaining(["application/strategic-merge-patch+json", "application/merge-patch+json"]),
        );
      },
    },
  ],
};
