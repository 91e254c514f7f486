import { expect } from "vitest";
import type { Answer, CaseGroup, Context, Json } from "../interface.ts";
import { widget, widgets, define, definition } from "./custom-resource.ts";
import { apply, at, causesOf, configMap, done, gone, invalid, items, made, refused } from "./shorthands.ts";

const OTHER = "0b5c0f0e-0000-4000-8000-000000000000";
const RBAC = "rbac.authorization.k8s.io/v1";
const HELD = { finalizers: ["example.com/hold"] };
const FREE = { "x-kubernetes-preserve-unknown-fields": true };
const IMMUTABLE = "Forbidden: field is immutable when `immutable` is set";

function lease(metadata: Json): Json {
  return { apiVersion: "coordination.k8s.io/v1", kind: "Lease", metadata: { name: "a", ...metadata }, spec: {} };
}

function service(spec: Json, metadata: Json = {}): Json {
  return { apiVersion: "v1", kind: "Service", metadata: { name: "a", ...metadata }, spec };
}

/** Makes an object that its finalizer holds, and deletes it. */
async function held({ api }: Context, collection: string, body: Json): Promise<string> {
  await made(api.post(collection, body));
  const path = `${collection}/a`;
  await done(api.delete(path));
  return path;
}

export const uidsAndLastFinalizers: CaseGroup = {
  title: "uids, last finalizers and values of other types",
  cases: [
    {
      name: "an update with another uid is a 409 before its resourceVersion is parsed",
      async run({ api, core, apis }) {
        const wrong = { uid: OTHER, resourceVersion: "soon" };
        const leases = apis("coordination.k8s.io/v1", "leases", "a");
        refused(await api.put(leases, lease(wrong)), 409, "Conflict", /UID in object meta: $/);
        expect((await api.put(leases, lease({ resourceVersion: "soon" }))).code).toBe(500);
        await made(api.post(core("configmaps"), configMap("a")));
        const answer = await api.put(core("configmaps", "a"), configMap("a", { metadata: wrong }));
        refused(answer, 409, "Conflict", /Precondition failed: UID in precondition/);
      },
    },
    {
      name: "a patch or apply with another uid is rejected as a change of an immutable field, after the check of resourceVersion",
      async run({ api, core }) {
        const path = core("configmaps", "a");
        await made(api.post(core("configmaps"), configMap("a")));
        const patched = await api.patch(path, "merge", { metadata: { uid: OTHER } });
        const applied = await apply(api, path, configMap("a", { metadata: { uid: OTHER } }), "one");
        const why = `metadata.uid: Invalid value: ${JSON.stringify(OTHER)}: field is immutable`;
        for (const answer of [patched, applied]) expect(new Set(causesOf(answer))).toEqual(new Set([why]));
        const stale = await api.patch(path, "merge", { metadata: { uid: OTHER, resourceVersion: "1" } });
        refused(stale, 409, "Conflict", /the object has been modified/);
        expect((await api.patch(path, "merge", { metadata: { uid: OTHER, resourceVersion: "soon" } })).code).toBe(500);
      },
    },
    {
      name: "an apply with a uid creates no object",
      async run({ api, core }) {
        const path = core("configmaps", "a");
        const answer = await apply(api, path, configMap("a", { metadata: { uid: OTHER } }), "one");
        const why = `uid mismatch: the provided object specified uid ${OTHER}, and no existing object was found`;
        refused(answer, 409, "Conflict", `Operation cannot be fulfilled on configmaps "a": ${why}`);
      },
    },
    {
      name: "deletionTimestamp and deletionGracePeriodSeconds are immutable; generateName is not",
      async run({ api, core }) {
        const path = core("configmaps", "a");
        await made(api.post(core("configmaps"), configMap("a")));
        const ends = { deletionTimestamp: "2001-01-01T00:00:00Z", deletionGracePeriodSeconds: 4 };
        const answer = await api.patch(path, "merge", { metadata: ends });
        const causes = causesOf(answer).map((cause) => cause.replace(/Invalid value: .*: field/s, "field"));
        // Rules of some kinds run twice.
        expect([...new Set(causes)]).toEqual([
          "metadata.deletionTimestamp: field is immutable",
          "metadata.deletionGracePeriodSeconds: field is immutable",
        ]);
        const body = await done(api.patch(path, "merge", { metadata: { generateName: "x" } }));
        expect(at(body, "metadata", "generateName")).toBe("x");
      },
    },
    {
      name: "an immutable ConfigMap or Secret distinguishes an empty map from a missing one",
      async run({ api, core }) {
        await made(api.post(core("configmaps"), configMap("a", { immutable: true })));
        const path = core("configmaps", "a");
        await done(api.patch(path, "merge", { data: {} }));
        invalid(await api.patch(path, "merge", { binaryData: {} }), `binaryData: ${IMMUTABLE}`);
        const body = { apiVersion: "v1", kind: "Secret", metadata: { name: "a" }, immutable: true };
        await made(api.post(core("secrets"), { ...body, data: {} }));
        await done(api.put(core("secrets", "a"), body));
        invalid(await api.put(core("secrets", "a"), { ...body, data: {} }), `data: ${IMMUTABLE}`);
      },
    },
    {
      name: "an update that removes the last finalizer of a Role returns its rules as they were sent",
      async run(c) {
        const role = { apiVersion: RBAC, kind: "Role", metadata: { name: "a" }, rules: [] };
        const path = await held(c, c.apis(RBAC, "roles"), { ...role, metadata: { name: "a", ...HELD } });
        expect(at(await done(c.api.put(path, { ...role, metadata: { name: "a", ...HELD } })), "rules")).toBeNull();
        expect(at(await done(c.api.put(path, role)), "rules")).toEqual([]);
        await gone(c.api, path);
      },
    },
    {
      name: "an update that removes the last finalizer of a Service returns the ports and addresses it would have got",
      async run(c) {
        const ports = [{ port: 80 }];
        const path = await held(c, c.core("services"), service({ ports }, HELD));
        const port = at(await done(c.api.put(path, service({ type: "NodePort", ports }))), "spec", "ports", 0);
        expect(port).toHaveProperty("nodePort");
        await gone(c.api, path);
        await held(c, c.core("services"), service({ type: "ExternalName", externalName: "a.b" }, HELD));
        expect(at(await done(c.api.put(path, service({ ports }))), "spec", "clusterIP")).toMatch(/^\d/);
        await gone(c.api, path);
      },
    },
    {
      name: "an apply that removes the last finalizer of a custom object returns empty labels, annotations and ownerReferences",
      async run(c) {
        const path = widgets(c, "a");
        const one = (metadata: Json): Promise<Answer> => apply(c.api, path, widget("a", {}, { metadata }), "one");
        const empty = { labels: {}, annotations: {} };
        await made(one(HELD));
        await done(c.api.delete(path));
        const bare = await done(one({ ...empty, ownerReferences: [] }));
        expect(bare["metadata"]).toMatchObject({ ...empty, ownerReferences: [] });
        await made(one({ ...HELD, labels: { a: "b" }, annotations: { a: "b" } }));
        await done(apply(c.api, path, widget("a", {}, { metadata: empty }), "two"));
        await done(c.api.delete(path));
        const { metadata } = await done(one({}));
        expect(metadata).toMatchObject({ labels: null, annotations: null });
        expect(metadata).not.toHaveProperty("finalizers");
      },
    },
    {
      name: "the write that removes the last finalizer of a deleted object returns it without one, at the revision of before",
      async run({ api, core }) {
        const path = core("configmaps", "a");
        await made(api.post(core("configmaps"), configMap("a", { metadata: HELD })));
        const deleted = await done(api.delete(path));
        const released = await done(api.patch(path, "merge", { metadata: { finalizers: null } }));
        expect(released["metadata"]).not.toHaveProperty("finalizers");
        const [before, after] = [deleted, released].map((body) => at(body, "metadata", "resourceVersion"));
        expect(after).toBe(before);
        await gone(api, path);
      },
    },
    {
      name: "null is a valid key of a list item in an apply, and no valid key of a stored item",
      async run({ api, core }) {
        const account = { apiVersion: "v1", kind: "ServiceAccount", metadata: { name: "a" } };
        const path = core("serviceaccounts", "a");
        const nameless = { ...account, secrets: [{ name: null }] };
        const twice = await apply(api, path, { ...account, secrets: [{ name: null }, { name: null }] }, "one");
        expect(twice.body["message"]).toMatch(/: \.secrets: duplicate entries for key \[name=null\]$/);
        const body = await made(apply(api, path, nameless, "one"));
        expect(at(body, "metadata", "managedFields", 0, "fieldsV1", "f:secrets")).toEqual({ 'k:{"name":null}': {} });
        const next = await apply(api, path, { ...account, secrets: [{ name: "b" }] }, "two");
        expect(next.body["message"]).toMatch(/^failed to create typed live object .*omits all key fields \["name"\]/);
      },
    },
    {
      name: "an owner reference whose uid is not a string is reported without quotes in its list key",
      async run({ api, core }) {
        const owner = { apiVersion: "v1", kind: "ConfigMap", name: "b", uid: { a: 1 } };
        const body = configMap("a", { metadata: { ownerReferences: [owner] } });
        const answer = await apply(api, core("configmaps", "a"), body, "one");
        expect(answer.body["message"]).toMatch(/: \.metadata\.ownerReferences\[uid=a=1\]\.uid: expected string, got /);
      },
    },
    {
      name: "an object of another kind is rejected with its kind, registered or not",
      async run({ api, core }) {
        const other = await api.post(core("configmaps"), { apiVersion: "apps/v1", kind: "Deployment" });
        const head = 'Deployment in version "v1" cannot be handled as a ConfigMap:';
        refused(other, 400, "BadRequest", `${head} converting (v1.Deployment) to (core.ConfigMap): unknown conversion`);
        const unknown = await api.post(core("configmaps"), { apiVersion: "apps/v1", kind: "Secret" });
        refused(unknown, 400, "BadRequest", /: no kind "Secret" is registered for version "apps\/v1" in scheme /);
      },
    },
    {
      name: "an ExternalName Service stores its internalTrafficPolicy, and reads and lists do not return it",
      async run({ api, core }) {
        const path = core("services", "a");
        await made(api.post(core("services"), service({ ports: [{ port: 80 }] }, HELD)));
        const spec = { type: "ExternalName", externalName: "example.com" };
        const patched = await done(api.patch(path, "merge", { spec }));
        expect(patched["spec"]).not.toHaveProperty("internalTrafficPolicy");
        const [listed] = items(await api.get(core("services")));
        expect(listed?.["spec"]).not.toHaveProperty("internalTrafficPolicy");
        expect(at(await done(api.get(`${path}/status`)), "spec", "internalTrafficPolicy")).toBe("Cluster");
        expect(at(await done(api.delete(path)), "spec", "internalTrafficPolicy")).toBe("Cluster");
      },
    },
    {
      name: "a number of more than 32 bits is truncated by apply and strategic merge patch, and rejected by merge patch",
      async run({ api, apis }) {
        const path = apis("coordination.k8s.io/v1", "leases", "a");
        const body = { ...lease({}), spec: { leaseDurationSeconds: 2 ** 32 + 80 } };
        expect(at(await made(apply(api, path, body, "one")), "spec", "leaseDurationSeconds")).toBe(80);
        const merged = await done(api.patch(path, "strategic", { spec: { leaseDurationSeconds: 2 ** 32 + 90 } }));
        expect(at(merged, "spec", "leaseDurationSeconds")).toBe(90);
        expect((await api.patch(path, "merge", { spec: body.spec })).code).toBe(422);
        const half = await apply(api, path, { ...body, spec: { leaseDurationSeconds: 1.5 } }, "one", true);
        expect(half.body["message"]).toMatch(/Kind=Lease: cannot convert float64 to int32$/);
      },
    },
    {
      name: "an apply that leaves null in a free-form field causes one more write",
      async run(c) {
        const group = `${c.unique("null")}.example.com`;
        const spec = { type: "object", properties: { free: { "x-kubernetes-preserve-unknown-fields": true } } };
        const schema = { openAPIV3Schema: { type: "object", properties: { spec } } };
        await define(
          c.api,
          definition("nulls", "Null", { group, versions: [{ name: "v1", served: true, storage: true, schema }] }),
        );
        const path = c.apis(`${group}/v1`, "nulls", "a");
        const given = (free: unknown): Json => ({
          apiVersion: `${group}/v1`,
          kind: "Null",
          metadata: { name: "a" },
          spec: { free },
        });
        await made(apply(c.api, path, given({ list: [1] }), "one"));
        const cleared = await done(apply(c.api, path, given({}), "one"));
        expect(cleared["spec"]).toEqual({});
        const next = await done(c.api.patch(path, "merge", {}));
        expect(at(next, "metadata", "resourceVersion")).not.toBe(at(cleared, "metadata", "resourceVersion"));
        const last = await done(c.api.patch(path, "merge", {}));
        expect(at(last, "metadata", "resourceVersion")).toBe(at(next, "metadata", "resourceVersion"));
      },
    },
    {
      name: "an embedded object of an apply is validated after null metadata is replaced by an empty object",
      async run(c) {
        const group = `${c.unique("inner")}.example.com`;
        const inner = { type: "object", "x-kubernetes-embedded-resource": true, ...FREE };
        const schema = { openAPIV3Schema: { type: "object", properties: { inner } } };
        await define(
          c.api,
          definition("inners", "Inner", { group, versions: [{ name: "v1", served: true, storage: true, schema }] }),
        );
        const path = c.apis(`${group}/v1`, "inners", "a");
        const given = (value: Json): Json => ({
          apiVersion: `${group}/v1`,
          kind: "Inner",
          metadata: { name: "a" },
          inner: value,
        });
        const answer = await apply(c.api, path, given({ apiVersion: null, kind: "A" }), "one");
        invalid(answer, "inner.apiVersion: Invalid value: null: must be a string");
        const bare = await made(apply(c.api, path, given({ apiVersion: "v1", kind: "A", metadata: null }), "one"));
        expect(bare["inner"]).toEqual({ apiVersion: "v1", kind: "A", metadata: {} });
      },
    },
    {
      name: "a dry-run update with another uid reports a key below /leases/",
      async run({ api, apis }) {
        const path = `${apis("coordination.k8s.io/v1", "leases", "a")}?dryRun=All`;
        refused(await api.put(path, lease({ uid: OTHER })), 409, "Conflict", / Key: \/leases\//);
      },
    },
  ],
};
