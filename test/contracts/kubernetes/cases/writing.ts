import { expect } from "vitest";
import type { CaseGroup, Context, Json } from "../interface.ts";
import { widget, widgets } from "./custom-resource.ts";
import { at, configMap, done, invalid, made } from "./shorthands.ts";

const UID = /^[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[0-9a-f]{4}-[0-9a-f]{12}$/;

const IMMUTABLE = "field is immutable when `immutable` is set";

export const writing: CaseGroup = {
  title: "writing",
  cases: [
    {
      name: "create gives a uid, a revision and a time, and says who set what",
      async run({ api, core, namespace }) {
        const { metadata } = (await made(api.post(core("configmaps"), configMap("a", { data: { a: "1" } })))) as {
          metadata: Json;
        };
        expect(metadata["uid"]).toMatch(UID);
        expect(metadata["resourceVersion"]).toMatch(/^\d+$/);
        expect(metadata["creationTimestamp"]).toMatch(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ$/);
        expect(metadata["namespace"]).toBe(namespace);
        expect(metadata["managedFields"]).toEqual([
          {
            manager: "contract",
            operation: "Update",
            apiVersion: "v1",
            time: expect.any(String) as string,
            fieldsType: "FieldsV1",
            fieldsV1: { "f:data": { ".": {}, "f:a": {} } },
          },
        ]);
      },
    },
    {
      name: "a create ignores metadata that only the server sets",
      async run({ api, core }) {
        const metadata = {
          uid: "u",
          creationTimestamp: "2000-01-01T00:00:00Z",
          generation: 7,
          deletionTimestamp: "2000-01-01T00:00:00Z",
        };
        const body = await made(api.post(core("configmaps"), configMap("a", { metadata })));
        expect(at(body, "metadata", "uid")).toMatch(UID);
        expect(at(body, "metadata", "creationTimestamp")).not.toBe("2000-01-01T00:00:00Z");
        expect(at(body, "metadata", "deletionTimestamp")).toBeUndefined();
      },
    },
    {
      name: "generateName is completed with five characters",
      async run({ api, core }) {
        const body = { apiVersion: "v1", kind: "ConfigMap", metadata: { generateName: "g-" } };
        const { metadata } = (await made(api.post(core("configmaps"), body))) as { metadata: Json };
        expect(metadata).toMatchObject({
          generateName: "g-",
          name: expect.stringMatching(/^g-[a-z0-9]{5}$/) as string,
        });
      },
    },
    {
      name: "dry run answers as if, and stores nothing",
      async run({ api, core }) {
        const body = await made(api.post(`${core("configmaps")}?dryRun=All`, configMap("a")));
        expect(at(body, "metadata", "uid")).toMatch(UID);
        expect(at(body, "metadata", "resourceVersion")).toBeUndefined();
        expect((await api.get(core("configmaps", "a"))).code).toBe(404);
        await made(api.post(core("configmaps"), configMap("a")));
        const patched = await api.patch(`${core("configmaps", "a")}?dryRun=All`, "merge", { data: { a: "1" } });
        expect(patched.body["data"]).toEqual({ a: "1" });
        expect((await api.delete(`${core("configmaps", "a")}?dryRun=All`)).code).toBe(200);
        expect((await api.get(core("configmaps", "a"))).body["data"]).toBeUndefined();
      },
    },
    {
      name: "an update that changes nothing keeps the revision",
      async run(c) {
        const body = await made(c.api.post(widgets(c), widget("a")));
        const again = await done(c.api.put(widgets(c, "a"), body));
        expect(at(again, "metadata", "resourceVersion")).toBe(at(body, "metadata", "resourceVersion"));
      },
    },
    {
      name: "a built-in kind is updated without a resourceVersion, a custom one is not",
      async run(c) {
        await made(c.api.post(c.core("configmaps"), configMap("a")));
        await done(c.api.put(c.core("configmaps", "a"), configMap("a", { data: { a: "1" } })));
        await made(c.api.post(widgets(c), widget("a")));
        invalid(
          await c.api.put(widgets(c, "a"), widget("a")),
          "metadata.resourceVersion: Invalid value: 0: must be specified for an update",
        );
      },
    },
    {
      name: "the resourceVersion 0 counts as none in an update and in a patch",
      async run(c) {
        const metadata = { name: "a", resourceVersion: "0" };
        await made(c.api.post(c.core("configmaps"), configMap("a")));
        const put = await done(
          c.api.put(c.core("configmaps", "a"), { ...configMap("a", { data: { a: "1" } }), metadata }),
        );
        expect(at(put, "data", "a")).toBe("1");
        const patched = await c.api.patch(c.core("configmaps", "a"), "merge", { metadata, data: { a: "2" } });
        expect(at(await done(Promise.resolve(patched)), "data", "a")).toBe("2");
        await made(c.api.post(widgets(c), widget("a")));
        const refused = "metadata.resourceVersion: Invalid value: 0: must be specified for an update";
        invalid(await c.api.put(widgets(c, "a"), { ...widget("a", { size: "big" }), metadata }), refused);
        invalid(await c.api.patch(widgets(c, "a"), "merge", { metadata, spec: { size: "big" } }), refused);
      },
    },
    {
      name: "a put of what is not there is 404",
      async run({ api, core }) {
        expect((await api.put(core("configmaps", "a"), configMap("a"))).code).toBe(404);
      },
    },
    {
      name: "JSON patch adds, removes, replaces, moves, copies and tests",
      async run({ api, core }) {
        await made(api.post(core("configmaps"), configMap("a", { data: { a: "1", b: "2" } })));
        const body = await done(
          api.patch(core("configmaps", "a"), "json", [
            { op: "test", path: "/data/a", value: "1" },
            { op: "add", path: "/data/x.y", value: "3" },
            { op: "remove", path: "/data/b" },
            { op: "copy", from: "/data/a", path: "/data/c" },
            { op: "move", from: "/data/a", path: "/data/d" },
            { op: "replace", path: "/data/c", value: "9" },
          ]),
        );
        expect(body["data"]).toEqual({ "x.y": "3", c: "9", d: "1" });
      },
    },
    {
      name: "merge patch merges maps, replaces lists and removes with null",
      async run(c) {
        await made(c.api.post(widgets(c), widget("a", { steps: ["x", "y"], limits: { a: "1", b: "2" } })));
        const body = await done(
          c.api.patch(widgets(c, "a"), "merge", { spec: { steps: ["z"], limits: { a: null, c: "3" } } }),
        );
        expect(body["spec"]).toMatchObject({ steps: ["z"], limits: { b: "2", c: "3" } });
      },
    },
    {
      name: "strategic merge patch merges lists by their keys, deletes and replaces by directive",
      async run(c) {
        const service = {
          apiVersion: "v1",
          kind: "Service",
          metadata: { name: "s" },
          spec: {
            ports: [
              { name: "a", port: 80 },
              { name: "b", port: 81 },
            ],
          },
        };
        await made(c.api.post(c.core("services"), service));
        const added = await done(
          c.api.patch(c.core("services", "s"), "strategic", { spec: { ports: [{ port: 82, name: "c" }] } }),
        );
        expect((at(added, "spec", "ports") as Json[]).map((p) => p["name"])).toEqual(["c", "a", "b"]);
        const fewer = await done(
          c.api.patch(c.core("services", "s"), "strategic", { spec: { ports: [{ port: 81, $patch: "delete" }] } }),
        );
        expect((at(fewer, "spec", "ports") as Json[]).map((p) => p["name"])).toEqual(["c", "a"]);
        const replaced = await done(
          c.api.patch(c.core("services", "s"), "strategic", {
            spec: { ports: [{ $patch: "replace" }, { port: 90, name: "z" }] },
          }),
        );
        expect((at(replaced, "spec", "ports") as Json[]).map((p) => p["port"])).toEqual([90]);
      },
    },
    {
      name: "a patch that names a resourceVersion minds it",
      async run({ api, core }) {
        const body = await made(api.post(core("configmaps"), configMap("a")));
        const resourceVersion = at(body, "metadata", "resourceVersion");
        await done(api.patch(core("configmaps", "a"), "merge", { metadata: { resourceVersion }, data: { a: "1" } }));
        const late = await api.patch(core("configmaps", "a"), "merge", {
          metadata: { resourceVersion },
          data: { a: "2" },
        });
        expect({ code: late.code, reason: late.body["reason"] }).toEqual({ code: 409, reason: "Conflict" });
      },
    },
    {
      name: "a patch may hold what the kind cannot: 422 about the patch",
      async run({ api, core }) {
        await made(api.post(core("configmaps"), configMap("a")));
        const answer = await api.patch(core("configmaps", "a"), "merge", { data: { a: 1 } });
        expect(answer.code).toBe(422);
        expect(answer.body["message"]).toMatch(
          /^ "" is invalid: patch: Invalid value: ".*": json: cannot unmarshal number into Go struct field ConfigMap\.data of type string$/,
        );
      },
    },
    {
      name: "unknown fields are warned of, refused when strict, and passed over when ignored",
      async run(c) {
        const odd = (name: string): Json => widget(name, { colour: "red" });
        const warned = await c.api.post(widgets(c), odd("a"));
        expect({ code: warned.code, warning: warned.headers["warning"] }).toEqual({
          code: 201,
          warning: '299 - "unknown field \\"spec.colour\\""',
        });
        expect(warned.body["spec"]).not.toHaveProperty("colour");
        const strict = await c.api.post(`${widgets(c)}?fieldValidation=Strict`, odd("b"));
        expect({ code: strict.code, message: strict.body["message"] }).toEqual({
          code: 400,
          message:
            'Widget in version "v1" cannot be handled as a Widget: strict decoding error: unknown field "spec.colour"',
        });
        const ignored = await c.api.post(`${widgets(c)}?fieldValidation=Ignore`, odd("c"));
        expect({ code: ignored.code, warning: ignored.headers["warning"] }).toEqual({ code: 201, warning: undefined });
      },
    },
    {
      name: "unknown fields of built-in kinds are refused when strict, and never kept",
      async run({ api, core }) {
        const odd = configMap("a", { colour: "red" });
        const strict = await api.post(`${core("configmaps")}?fieldValidation=Strict`, odd);
        expect({ code: strict.code, message: strict.body["message"] }).toEqual({
          code: 400,
          message:
            'ConfigMap in version "v1" cannot be handled as a ConfigMap: strict decoding error: unknown field "colour"',
        });
        const warned = await api.post(core("configmaps"), odd);
        expect(warned.headers["warning"]).toBe('299 - "unknown field \\"colour\\""');
        expect(warned.body).not.toHaveProperty("colour");
      },
    },
    {
      name: "a field given twice is refused when strict",
      async run({ api, core }) {
        const body = '{"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"a"},"data":{"a":"1","a":"2"}}';
        const strict = await api.post(`${core("configmaps")}?fieldValidation=Strict`, body);
        expect(strict.body["message"]).toContain('strict decoding error: duplicate field "data.a"');
      },
    },
    {
      name: "a deprecated version says so in a warning",
      async run(c) {
        const path = c.apis("contract.example.com/v1beta1", "widgets");
        const answer = await c.api.get(path);
        expect(answer.headers["warning"]).toBe(
          '299 - "contract.example.com/v1beta1 Widget is deprecated; use contract.example.com/v1 Widget"',
        );
      },
    },
    ...(
      [
        ["configmaps", "ConfigMap", { data: { a: "1" } }, { data: { a: "2" } }],
        ["secrets", "Secret", { data: { a: "MQ==" } }, { data: { a: "Mg==" } }],
      ] as const
    ).map(([plural, kind, before, after]) => ({
      name: `an immutable ${kind} changes neither its data nor its mind, but its labels`,
      async run({ api, core }: Context) {
        await made(
          api.post(core(plural), { apiVersion: "v1", kind, metadata: { name: "a" }, immutable: true, ...before }),
        );
        invalid(await api.patch(core(plural, "a"), "merge", after), `data: Forbidden: ${IMMUTABLE}`);
        invalid(
          await api.patch(core(plural, "a"), "merge", { immutable: false }),
          `immutable: Forbidden: ${IMMUTABLE}`,
        );
        await done(api.patch(core(plural, "a"), "merge", { metadata: { labels: { a: "b" } } }));
      },
    })),
    {
      name: "stringData of a Secret becomes data",
      async run({ api, core }) {
        const secret = { apiVersion: "v1", kind: "Secret", metadata: { name: "a" }, stringData: { a: "x" } };
        const body = await made(api.post(core("secrets"), secret));
        expect(body).toMatchObject({ type: "Opaque", data: { a: "eA==" } });
        expect(body).not.toHaveProperty("stringData");
        invalid(
          await api.patch(core("secrets", "a"), "merge", { type: "other" }),
          'type: Invalid value: "other": field is immutable',
        );
      },
    },
    ...(
      [
        [
          "an invalid name",
          configMap("Bad_Name"),
          [
            "metadata.name: Invalid value: \"Bad_Name\": a lowercase RFC 1123 subdomain must consist of lower case alphanumeric characters, '-' or '.', and must start and end with an alphanumeric character (e.g. 'example.com', regex used for validation is '[a-z0-9]([-a-z0-9]*[a-z0-9])?(\\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*')",
          ],
        ],
        [
          "an invalid label key",
          configMap("a", { metadata: { labels: { "a b": "c" } } }),
          [
            "metadata.labels: Invalid value: \"a b\": name part must consist of alphanumeric characters, '-', '_' or '.', and must start and end with an alphanumeric character (e.g. 'MyName',  or 'my.name',  or '123-abc', regex used for validation is '([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9]')",
          ],
        ],
        [
          "an invalid label value",
          configMap("a", { metadata: { labels: { a: "b c" } } }),
          [
            "metadata.labels: Invalid value: \"b c\": a valid label must be an empty string or consist of alphanumeric characters, '-', '_' or '.', and must start and end with an alphanumeric character (e.g. 'MyValue',  or 'my_value',  or '12345', regex used for validation is '(([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9])?')",
          ],
        ],
        [
          "no name",
          { apiVersion: "v1", kind: "ConfigMap", metadata: {} },
          ["metadata.name: Required value: name or generateName is required"],
        ],
        [
          "an owner reference without a uid",
          configMap("a", { metadata: { ownerReferences: [{ apiVersion: "v1", kind: "ConfigMap", name: "x" }] } }),
          ['metadata.ownerReferences.uid: Invalid value: "": must not be empty'],
        ],
        [
          "an invalid key of data",
          configMap("a", { data: { "a b": "c" } }),
          [
            "data[a b]: Invalid value: \"a b\": a valid config key must consist of alphanumeric characters, '-', '_' or '.' (e.g. 'key.name',  or 'KEY_NAME',  or 'key-name', regex used for validation is '[-._a-zA-Z0-9]+')",
          ],
        ],
      ] as const
    ).map(([what, body, causes]) => ({
      name: `a create with ${what} is rejected with the field`,
      async run({ api, core }: Context) {
        invalid(await api.post(core("configmaps"), body), ...causes);
      },
    })),
  ],
};
