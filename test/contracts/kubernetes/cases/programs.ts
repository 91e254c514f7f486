import { expect } from "vitest";
import type { CaseGroup, Json } from "../interface.ts";
import { at, configMap, eventually } from "./shorthands.ts";

/** What programs of others were seen to rely on. */
export const programs: CaseGroup = {
  title: "what programs rely on",
  cases: [
    {
      name: "an apply patch may leave out metadata, and is about what the path names",
      async run({ api, core }) {
        await api.post(core("configmaps"), configMap("a", { data: { x: "1" } }));
        const body: Json = { apiVersion: "v1", kind: "ConfigMap", data: { y: "2" } };
        const { code, body: object } = await api.patch(`${core("configmaps", "a")}?fieldManager=one`, "apply", body);
        expect(code).toBe(200);
        expect(object["data"]).toEqual({ x: "1", y: "2" });
        expect(at(object, "metadata", "name")).toBe("a");
      },
    },
    {
      name: "a deletion is dry by its body, which need not say its kind",
      async run({ api, core }) {
        await api.post(core("configmaps"), configMap("a"));
        for (const path of [core("configmaps", "a"), core("configmaps")]) {
          const { code } = await api.delete(path, { propagationPolicy: "Background", dryRun: ["All"] });
          expect(code).toBe(200);
        }
        expect((await api.get(core("configmaps", "a"))).code).toBe(200);
      },
    },
    {
      name: "a CEL rule may compare the items of a list that are objects",
      async run({ api, unique }) {
        const group = `${unique("unique")}.example.com`;
        const item = {
          type: "object",
          properties: { a: { type: "string" }, b: { type: "array", items: { type: "string" } } },
        };
        const rule = { rule: "self.all(x, self.exists_one(y, x == y))", message: "entries must be unique" };
        const list = { type: "array", maxItems: 8, items: item, "x-kubernetes-validations": [rule] };
        const schema = { type: "object", properties: { spec: { type: "object", properties: { list } } } };
        const version = { name: "v1", served: true, storage: true, schema: { openAPIV3Schema: schema } };
        const names = { plural: "sets", singular: "set", kind: "Set" };
        const { code } = await api.post("/apis/apiextensions.k8s.io/v1/customresourcedefinitions", {
          apiVersion: "apiextensions.k8s.io/v1",
          kind: "CustomResourceDefinition",
          metadata: { name: `sets.${group}` },
          spec: { group, scope: "Cluster", names, versions: [version] },
        });
        expect(code).toBe(201);
        const make = (name: string, list: readonly Json[]) =>
          api.post(`/apis/${group}/v1/sets`, {
            apiVersion: `${group}/v1`,
            kind: "Set",
            metadata: { name },
            spec: { list },
          });
        const one = { a: "1", b: ["x"] };
        const good = () => make("good", [one, { a: "1", b: ["y"] }]);
        await eventually(async () => (await good()).code === 201, "the kind in use");
        // A route that has responded may be gone once more for a moment.
        const answer = await eventually(async () => {
          const posted = await make("bad", [one, one]);
          return posted.code === 404 ? undefined : posted;
        }, "the kind in use again");
        expect(answer.code).toBe(422);
        expect(answer.body["message"]).toContain("spec.list: Invalid value");
        expect(answer.body["message"]).toContain("entries must be unique");
      },
    },
  ],
};
