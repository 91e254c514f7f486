import { expect } from "vitest";
import type { Answer, CaseGroup, Json } from "../interface.ts";
import { widget, widgets } from "./custom-resource.ts";
import { at, configMap, done, invalid, items, made, refused } from "./shorthands.ts";

const OWNER = { apiVersion: "example.com/v1", kind: "Nothing", name: "o", uid: "1", controller: true };
const LEASES = "coordination.k8s.io/v1";

function secret(data: Json): Json {
  return { apiVersion: "v1", kind: "Secret", metadata: { name: "a" }, data };
}

function job(name: string): Json {
  const spec = { restartPolicy: "Never", containers: [{ name: "c", image: "i" }] };
  return { apiVersion: "batch/v1", kind: "Job", metadata: { name }, spec: { template: { spec } } };
}

function revision(body: Json): unknown {
  return at(body, "metadata", "resourceVersion");
}

function warnings({ headers }: Answer): unknown {
  return [headers["warning"]].flat().join(", ");
}

/** What random operations on both servers (differential/, profile general) found to differ later, each once. */
export const ownersAndFinalizers: CaseGroup = {
  title: "owners, finalizers and the order of errors",
  cases: [
    {
      name: "a duplicate owner reference is removed with a warning",
      async run({ api, core }) {
        const answer = await api.post(
          core("configmaps"),
          configMap("a", { metadata: { ownerReferences: [OWNER, OWNER] } }),
        );
        expect({ code: answer.code, owners: at(answer.body, "metadata", "ownerReferences") }).toEqual({
          code: 201,
          owners: [OWNER],
        });
        expect(warnings(answer)).toMatch(
          /contains duplicate entries; API server dedups .*; duplicate UID\(s\) observed: 1"$/,
        );
      },
    },
    {
      name: "different owner references with one uid are both kept",
      async run({ api, core }) {
        const owners = [OWNER, { ...OWNER, name: "other", controller: false }];
        const body = await made(
          api.post(core("configmaps"), configMap("a", { metadata: { ownerReferences: owners } })),
        );
        expect(at(body, "metadata", "ownerReferences")).toHaveLength(2);
      },
    },
    {
      name: "a finalizer of a built-in kind is a standard finalizer or a qualified name",
      async run({ api, core, apis }) {
        const metadata = { name: "a", finalizers: ["text"] };
        const why =
          'metadata.finalizers[0]: Invalid value: "text": name is neither a standard finalizer name nor is it fully qualified';
        const answer = await api.post(core("configmaps"), configMap("a", { metadata }));
        expect(at(answer.body, "message")).toContain(why);
        await made(api.post(core("configmaps"), configMap("a", { metadata: { finalizers: ["orphan"] } })));
        // Leases are held to the rules of all objects alone.
        const lease = { apiVersion: LEASES, kind: "Lease", metadata, spec: {} };
        await made(api.post(apis(LEASES, "leases"), lease));
      },
    },
    {
      name: "data of a Secret may be null or a list of numbers",
      async run({ api, core }) {
        const body = await made(api.post(core("secrets"), secret({ a: null, b: [104, 105] })));
        expect(body["data"]).toEqual({ a: "", b: "aGk=" });
      },
    },
    {
      name: "a ConfigMap key that begins with two dots is rejected",
      async run({ api, core }) {
        invalid(
          await api.post(core("configmaps"), configMap("a", { data: { "..": "x" } })),
          "data[..]: Invalid value: \"..\": must not be '..'",
        );
        invalid(
          await api.post(core("configmaps"), configMap("a", { data: { "..a": "x" } })),
          "data[..a]: Invalid value: \"..a\": must not start with '..'",
        );
      },
    },
    {
      name: "a deletion with an invalid dryRun and an invalid propagationPolicy is rejected with both causes",
      async run({ api, core }) {
        const options = { apiVersion: "v1", kind: "DeleteOptions", propagationPolicy: "Sideways", dryRun: ["Some"] };
        invalid(
          await api.delete(core("configmaps", "a"), options),
          'propagationPolicy: Unsupported value: "Sideways": supported values: "Foreground", "Background", "Orphan", "nil"',
          'dryRun: Unsupported value: ["Some"]: supported values: "All"',
        );
      },
    },
    {
      name: "a time that cannot be parsed is reported before a label that is not a string",
      async run({ api, apis }) {
        const metadata = { name: "a", labels: { a: 7 } };
        const lease = { apiVersion: LEASES, kind: "Lease", metadata, spec: { acquireTime: "2001-01-01T00:00:00.5Z" } };
        refused(
          await api.post(apis(LEASES, "leases"), lease),
          400,
          "BadRequest",
          /: parsing time "2001-01-01T00:00:00\.5Z" as /,
        );
      },
    },
    {
      name: "an IntOrString of another type is reported with its field",
      async run({ api, core }) {
        const spec = { ports: [{ port: 80, targetPort: [] }] };
        const answer = await api.post(core("services"), {
          apiVersion: "v1",
          kind: "Service",
          metadata: { name: "a" },
          spec,
        });
        refused(
          answer,
          400,
          "BadRequest",
          /json: cannot unmarshal array into Go struct field ServicePort\.spec\.ports\.targetPort of type int32$/,
        );
      },
    },
    {
      name: "the managedFields entry of a scale update has no time",
      async run(c) {
        await made(c.api.post(widgets(c), widget("a", { replicas: 1 })));
        await done(c.api.patch(`${widgets(c, "a")}/scale?fieldManager=scaler`, "merge", { spec: { replicas: 2 } }));
        const body = await done(c.api.get(widgets(c, "a")));
        const scaler = (at(body, "metadata", "managedFields") as Json[]).find((m) => m["manager"] === "scaler");
        expect(scaler).toMatchObject({ subresource: "scale", operation: "Update" });
        expect(scaler).not.toHaveProperty("time");
      },
    },
    {
      name: "the first update of a new Job changes its resourceVersion without another change, the second does not",
      async run({ api, core, apis }) {
        const path = apis("batch/v1", "jobs");
        const first = await made(api.post(path, job("a")));
        const second = await done(api.patch(`${path}/a`, "merge", {}));
        const third = await done(api.patch(`${path}/a`, "merge", {}));
        expect(revision(second)).not.toBe(revision(first));
        expect(revision(third)).toBe(revision(second));
        const plain = await made(api.post(core("configmaps"), configMap("a")));
        expect(revision(await done(api.patch(core("configmaps", "a"), "merge", {})))).toBe(revision(plain));
      },
    },
    {
      name: "a limited list at a resourceVersion is exact, unless a field selector names one object",
      async run({ api, core }) {
        const old = await made(api.post(core("configmaps"), configMap("a")));
        await made(api.post(core("configmaps"), configMap("b")));
        const query = `limit=5&resourceVersion=${String(revision(old))}`;
        const named = await api.get(`${core("configmaps")}?${query}&fieldSelector=metadata.name%3Db`);
        const all = await api.get(`${core("configmaps")}?${query}`);
        expect({ named: items(named).length, all: items(all).some((i) => at(i, "metadata", "name") === "b") }).toEqual({
          named: 1,
          all: false,
        });
      },
    },
    {
      name: "a JSON patch that adds no value removes the field",
      async run({ api, core }) {
        await made(api.post(core("configmaps"), configMap("a", { data: { a: "1" } })));
        const body = await done(api.patch(core("configmaps", "a"), "json", [{ op: "add", path: "/data" }]));
        expect(body).not.toHaveProperty("data");
      },
    },
    {
      name: "warnings of unknown fields of a built-in kind have the order of the object's fields",
      async run({ api, core }) {
        const spec = {
          ports: [
            { port: 80, protocol: "TCP" },
            { name: "b", port: 81 },
          ],
        };
        const service = {
          apiVersion: "v1",
          kind: "Service",
          metadata: { name: "a" },
          spec: { ...spec, ports: [{ name: "a", ...spec.ports[0] }, spec.ports[1]] },
        };
        await made(api.post(core("services"), service));
        const patch = [{ op: "move", from: "/spec/ports/0", path: "/metadata/unknown" }];
        const answer = await api.patch(core("services", "a"), "json", patch);
        expect({ code: answer.code, warnings: warnings(answer) }).toEqual({
          code: 200,
          warnings: '299 - "unknown field \\"metadata.unknown\\""',
        });
      },
    },
    {
      name: "deleting a namespace with orphanDependents=false adds finalizer foregroundDeletion",
      async run({ api, namespace }) {
        const options = { apiVersion: "v1", kind: "DeleteOptions", orphanDependents: false, dryRun: ["All"] };
        const answer = await api.delete(`/api/v1/namespaces/${namespace}`, options);
        expect({ code: answer.code, finalizers: at(answer.body, "metadata", "finalizers") }).toEqual({
          code: 202,
          finalizers: ["foregroundDeletion"],
        });
      },
    },
  ],
};
