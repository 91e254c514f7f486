import { expect } from "vitest";
import type { CaseGroup, Json } from "../interface.ts";
import { widget, widgets } from "./custom-resource.ts";
import { apply, at, configMap, done, invalid, items, made, refused } from "./shorthands.ts";

/** What random operations on both servers (differential/) found to differ, each once. */
export const smallWriteRules: CaseGroup = {
  title: "small rules of writes",
  cases: [
    {
      name: "an apply without metadata after one with metadata lacks the name",
      async run({ api, core }) {
        const path = core("configmaps", "a");
        await made(apply(api, path, configMap("a", { metadata: { finalizers: ["example.com/hold"] } }), "one"));
        const answer = await apply(api, path, { apiVersion: "v1", kind: "ConfigMap", data: { a: "b" } }, "one");
        const why = "the name of the object (a based on URL) was undeterminable: name must be provided";
        refused(answer, 400, "BadRequest", why);
      },
    },
    {
      name: "a duplicate value of a set is rejected with the value",
      async run(c) {
        const answer = await apply(c.api, widgets(c, "a"), widget("a", { tags: ["x", "x"] }), "one");
        expect(answer.body["message"]).toMatch(/: \.spec\.tags: duplicate entries for key \[="x"\]$/);
      },
    },
    {
      name: "an applied field of another type is rejected by the schema",
      async run({ api, core }) {
        const answer = await apply(api, core("configmaps", "a"), configMap("a", { data: { a: 7 } }), "one");
        expect(answer.body["message"]).toMatch(
          /: \.data\.a: expected string, got &value\.valueUnstructured\{Value:7\}$/,
        );
      },
    },
    {
      name: "an apply that changes nothing has a managedFields entry without a time",
      async run({ api, core }) {
        const path = core("configmaps", "a");
        await made(apply(api, path, configMap("a", { data: { a: "1" } }), "one"));
        const body = await done(apply(api, path, configMap("a", { data: { a: "1" } }), "two"));
        const two = (at(body, "metadata", "managedFields") as Json[]).find((m) => m["manager"] === "two");
        expect(two).not.toHaveProperty("time");
      },
    },
    {
      name: "empty labels and annotations of a created object are dropped",
      async run(c) {
        const object = widget("a", {}, { metadata: { labels: {}, annotations: {} } });
        const body = await made(c.api.post(widgets(c), object));
        expect(body["metadata"]).not.toHaveProperty("labels");
        expect(body["metadata"]).not.toHaveProperty("annotations");
      },
    },
    {
      name: "a PUT creates a Lease or a Role that does not exist, and no ConfigMap",
      async run({ api, core, apis }) {
        const lease = { apiVersion: "coordination.k8s.io/v1", kind: "Lease", metadata: { name: "a" }, spec: {} };
        await made(api.put(apis("coordination.k8s.io/v1", "leases", "a"), lease));
        const role = { apiVersion: "rbac.authorization.k8s.io/v1", kind: "Role", metadata: { name: "a" }, rules: [] };
        await made(api.put(apis("rbac.authorization.k8s.io/v1", "roles", "a"), role));
        refused(await api.put(core("configmaps", "a"), configMap("a")), 404, "NotFound");
      },
    },
    {
      name: "a resourceVersion that is not a number is a 500",
      async run({ api, core }) {
        await made(api.post(core("configmaps"), configMap("a")));
        const body = configMap("a", { metadata: { resourceVersion: "soon" } });
        const answer = await api.put(core("configmaps", "a"), body);
        expect({ code: answer.code, message: answer.body["message"] }).toEqual({
          code: 500,
          message: 'strconv.ParseUint: parsing "soon": invalid syntax',
        });
      },
    },
    {
      name: "deleting a Job warns that its pods are orphaned",
      async run({ api, apis }) {
        const answer = await api.delete(apis("batch/v1", "jobs", "none"));
        expect(answer.code).toBe(404);
        expect(answer.headers["warning"]).toMatch(/child pods are preserved by default when jobs are deleted/);
      },
    },
    {
      name: "a deletion with propagationPolicy Orphan and orphanDependents is rejected",
      async run({ api, core }) {
        const options = {
          apiVersion: "v1",
          kind: "DeleteOptions",
          propagationPolicy: "Orphan",
          orphanDependents: true,
        };
        const answer = await api.delete(core("configmaps", "a"), options);
        invalid(
          answer,
          'propagationPolicy: Invalid value: "Orphan": orphanDependents and deletionPropagation cannot be both set',
        );
      },
    },
    {
      name: "the items in the response to a deletion of a collection have no kind",
      async run({ api, core }) {
        await made(api.post(core("secrets"), { apiVersion: "v1", kind: "Secret", metadata: { name: "a" } }));
        const answer = await api.delete(core("secrets"));
        expect(items(answer).map((item) => Object.keys(item).includes("kind"))).toEqual([false]);
      },
    },
    {
      name: "podCIDR of a Node is copied to podCIDRs",
      async run({ api, unique }) {
        const name = unique("ranges");
        const node = { apiVersion: "v1", kind: "Node", metadata: { name }, spec: { podCIDR: "10.1.0.0/24" } };
        const body = await made(api.post("/api/v1/nodes", node));
        expect(body["spec"]).toMatchObject({ podCIDR: "10.1.0.0/24", podCIDRs: ["10.1.0.0/24"] });
      },
    },
    {
      name: "a JSON patch may replace a member that does not exist",
      async run({ api, core }) {
        await made(api.post(core("configmaps"), configMap("a", { data: { a: "1" } })));
        const body = await done(
          api.patch(core("configmaps", "a"), "json", [{ op: "replace", path: "/data/b", value: "2" }]),
        );
        expect(body["data"]).toEqual({ a: "1", b: "2" });
      },
    },
    {
      name: "an unknown directive of a strategic merge patch is a 500",
      async run({ api, core }) {
        await made(api.post(core("configmaps"), configMap("a", { data: { a: "1" } })));
        const answer = await api.patch(core("configmaps", "a"), "strategic", { data: { $patch: "grow" } });
        expect({ code: answer.code, message: answer.body["message"] }).toEqual({
          code: 500,
          message: "unknown patch type: grow in map: map[$patch:grow]",
        });
      },
    },
  ],
};
