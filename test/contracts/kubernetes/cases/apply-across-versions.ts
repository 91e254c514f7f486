import { expect } from "vitest";
import type { Answer, CaseGroup, Json } from "../interface.ts";
import { widget, widgets, GROUP } from "./custom-resource.ts";
import { apply, at, configMap, done, made, refused } from "./shorthands.ts";

function revision(body: Json): unknown {
  return at(body, "metadata", "resourceVersion");
}

function warnings({ headers }: Answer): string {
  return [headers["warning"]].flat().join(", ");
}

/** What random operations around apply on both servers (differential/, profile apply) found to differ, each once. */
export const applyAcrossVersions: CaseGroup = {
  title: "apply and patches of several versions",
  cases: [
    {
      name: "empty annotations of an applied custom object are stored, and removed by the next write",
      async run(c) {
        const path = widgets(c, "a");
        const first = await made(apply(c.api, path, widget("a", {}, { metadata: { annotations: {} } }), "one"));
        expect(at(first, "metadata", "annotations")).toBeUndefined();
        const second = await done(c.api.patch(path, "merge", { metadata: {} }));
        expect(revision(second)).not.toBe(revision(first));
        const third = await done(c.api.patch(path, "merge", { metadata: {} }));
        expect(revision(third)).toBe(revision(second));
      },
    },
    {
      name: "empty labels of an object applied in a version that is not stored are not stored",
      async run(c) {
        const path = c.apis(`${GROUP}/v1beta1`, "widgets", "a");
        const body = { ...widget("a", {}, { metadata: { labels: {} } }), apiVersion: `${GROUP}/v1beta1` };
        const first = await made(apply(c.api, path, body, "one"));
        const second = await done(c.api.patch(path, "merge", { metadata: {} }));
        expect(revision(second)).toBe(revision(first));
      },
    },
    {
      name: "a status patch with another spec removes the ownership of that spec in another version, and keeps the spec",
      async run(c) {
        const older = c.apis(`${GROUP}/v1beta1`, "widgets");
        const body = { ...widget("a"), apiVersion: `${GROUP}/v1beta1` };
        await made(c.api.post(`${older}?fieldManager=one`, body));
        const changed = widget("a", { size: "big" }, { status: { phase: "On" } });
        const after = await done(c.api.patch(`${widgets(c, "a")}/status`, "merge", changed));
        expect(after).toMatchObject({ spec: { size: "small" }, status: { phase: "On" } });
        const owner = (at(after, "metadata", "managedFields") as Json[]).find((entry) => entry["manager"] === "one");
        expect(at(owner, "fieldsV1", "f:spec", "f:size")).toBeUndefined();
      },
    },
    {
      name: "a JSON patch that removes the resourceVersion of a custom object is rejected",
      async run(c) {
        await made(c.api.post(widgets(c), widget("a", { free: { name: "a" } })));
        const patch = [{ op: "copy", from: "/spec/free", path: "/metadata" }];
        const answer = await c.api.patch(widgets(c, "a"), "json", patch);
        refused(
          answer,
          422,
          "Invalid",
          /metadata\.resourceVersion: Invalid value: 0: must be specified for an update$/,
        );
      },
    },
    {
      name: "metadata that a JSON patch replaces by a string is rejected with the type that cannot be decoded",
      async run(c) {
        await made(c.api.post(widgets(c), widget("a")));
        const patch = [{ op: "copy", from: "/spec/size", path: "/metadata" }];
        const answer = await c.api.patch(widgets(c, "a"), "json", patch);
        expect(at(answer.body, "details", "causes", 0, "message")).toMatch(
          /: json: cannot unmarshal string into Go value of type v1\.ObjectMeta$/,
        );
      },
    },
    {
      name: "warnings of unknown fields of a custom object are sorted by field",
      async run(c) {
        const path = `${widgets(c)}?fieldValidation=Warn`;
        const answer = await c.api.post(path, widget("a", { zeta: 1, eta: 1, beta: 1 }));
        const fields = [...warnings(answer).matchAll(/unknown field \\"(spec\.\w+)/g)].map(([, field]) => field);
        expect(fields).toEqual(["spec.beta", "spec.eta", "spec.zeta"]);
      },
    },
    {
      name: "a Service that is rejected has no warnings",
      async run({ api, core }) {
        const spec = { type: "ExternalName", externalName: "example.com", externalIPs: ["192.0.2.1"] };
        const body = { apiVersion: "v1", kind: "Service", metadata: { name: "a" }, spec };
        const bad = { ...body, metadata: { name: "a", ownerReferences: [{ name: "other", uid: "1" }] } };
        const answer = await api.post(core("services"), bad);
        refused(answer, 422, "Invalid");
        expect(warnings(answer)).toBe("");
        expect(warnings(await api.post(core("services"), body))).toMatch(/spec\.externalIPs is ignored/);
      },
    },
    {
      name: "a strategic merge patch of bytes with a list of strings is rejected",
      async run({ api, core }) {
        await made(api.post(core("configmaps"), configMap("a")));
        const answer = await api.patch(core("configmaps", "a"), "strategic", { binaryData: { e: ["e"] } });
        expect(at(answer.body, "details", "causes", 0, "message")).toMatch(/: unrecognized type: uint8$/);
      },
    },
    {
      name: "a .dockerconfigjson that is not JSON is rejected with the first invalid character",
      async run({ api, core }) {
        const answer = await api.post(core("secrets"), {
          apiVersion: "v1",
          kind: "Secret",
          metadata: { name: "a" },
          type: "kubernetes.io/dockerconfigjson",
          data: { ".dockerconfigjson": "x+c=" },
        });
        expect(at(answer.body, "message")).toMatch(/invalid character 'Ç' looking for beginning of value$/);
      },
    },
  ],
};
