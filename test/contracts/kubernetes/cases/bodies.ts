import { expect } from "vitest";
import type { CaseGroup, ContractCase } from "../interface.ts";
import { configMap, made, refused } from "./shorthands.ts";

const YAML = { headers: { "content-type": "application/yaml" } };
const DEEP = 10_001;
const deep = (levels: number): string => `${'{"a":'.repeat(levels)}1${"}".repeat(levels)}`;

/** Strings that readers of YAML may take for something else. */
const AMBIGUOUS: Readonly<Record<string, string>> = {
  y: "yes",
  n: "off",
  b: "0b11",
  c: "a: b",
  d: "2026-01-01",
  e: "",
  h: "a #b",
  k: "a\nb",
  l: "a\nb\n",
  q: "it's",
  s: " lead",
  star: "*a",
  t: "12:30:45",
  tab: "a\tb",
  u: "1_000",
  null: "null",
  a2: "2",
  a10: "1",
};

export const bodies: CaseGroup = {
  title: "bodies",
  cases: [
    {
      name: "a JSON patch whose copies add more than three mebibytes is refused",
      async run({ api, core }) {
        await made(api.post(core("configmaps"), configMap("a", { data: { x: "x".repeat(1000) } })));
        const copies = Array.from({ length: 18 }, (_, i) => ({ op: "copy", from: "/data", path: `/data/y${i}` }));
        const answer = await api.patch(core("configmaps", "a"), "json", copies);
        refused(answer, 422, "Invalid", "the server rejected our request due to an error in our request");
      },
    },
    {
      name: "a JSON patch of more than 10,000 operations is refused",
      async run({ api, core }) {
        await made(api.post(core("configmaps"), configMap("a", { data: { x: "y" } })));
        const adds = Array.from({ length: 10_001 }, () => ({ op: "add", path: "/data/k", value: "1" }));
        const answer = await api.patch(core("configmaps", "a"), "json", adds);
        const why = "The allowed maximum operations in a JSON patch is 10000, got 10001";
        refused(answer, 413, "RequestEntityTooLarge", `Request entity too large: ${why}`);
        expect(await api.patch(core("configmaps", "a"), "json", adds.slice(1))).toMatchObject({ code: 200 });
      },
    },
    {
      name: "JSON with too many levels is refused, in an object and in patches",
      async run({ api, core }) {
        await made(api.post(core("configmaps"), configMap("a")));
        const created = await api.post(core("configmaps"), deep(DEEP));
        refused(created, 400, "BadRequest");
        expect(created.body["message"]).toContain("json parse error: invalid character '{' exceeded max depth");
        const patched = [
          await api.call("PATCH", core("configmaps", "a"), deep(DEEP), {
            headers: { "content-type": "application/merge-patch+json" },
          }),
          await api.call("PATCH", core("configmaps", "a"), `[{"op":"add","path":"/x","value":${deep(DEEP)}}]`, {
            headers: { "content-type": "application/json-patch+json" },
          }),
        ];
        for (const answer of patched)
          refused(answer, 400, "BadRequest", "error decoding patch: invalid character '{' exceeded max depth");
      },
    },
    {
      name: "YAML with too many levels, aliases that multiply, and numbers that JSON does not have are refused",
      async run({ api, core }) {
        const nested = "bcdefghi"
          .split("")
          .map((l, i) => `${l}: &${l} [${Array(9).fill(`*${"abcdefghi"[i]}`).join(",")}]`);
        const bodies: readonly (readonly [string, RegExp])[] = [
          [
            `a: ${"[".repeat(DEEP)}${"]".repeat(DEEP)}`,
            /\(must be of type ConfigMap\): yaml: exceeded max depth of \d+ \(/,
          ],
          [["a: &a [x,x,x,x,x,x,x,x,x]", ...nested].join("\n"), /excessive ali|Excessive ali/],
          [
            "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: a}\ndata: {a: .inf}\n",
            /json: unsupported value: \+Inf \(/,
          ],
          ["? [a]\n: b\n", /yaml: invalid map key/],
        ];
        for (const [text, why] of bodies) {
          const answer = await api.post(core("configmaps"), text, YAML);
          refused(answer, 400, "BadRequest");
          expect(answer.body["message"]).toMatch(why);
        }
      },
    },
    {
      name: "YAML's times and numbers in base 60 are strings, and only its first document counts",
      async run({ api, core }) {
        const text =
          "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: a}\ndata: {a: 2026-01-01, b: 12:30:45, c: e1000}\n---\nb: 1\n";
        const answer = await api.post(core("configmaps"), text, YAML);
        expect(answer).toMatchObject({ code: 201, body: { data: { a: "2026-01-01", b: "12:30:45", c: "e1000" } } });
      },
    },
    {
      name: "an answer in YAML quotes what could be read as something else, and can be written back",
      async run({ api, core }) {
        await made(api.post(core("configmaps"), configMap("a", { data: AMBIGUOUS })));
        const path = core("configmaps", "a");
        const { text } = await api.get(path, { headers: { accept: "application/yaml" } });
        expect(text.slice(text.indexOf("data:"), text.indexOf("kind:"))).toBe(
          [
            "data:",
            '  a2: "2"',
            '  a10: "1"',
            '  b: "0b11"',
            "  c: 'a: b'",
            '  d: "2026-01-01"',
            '  e: ""',
            "  h: 'a #b'",
            "  k: |-",
            "    a",
            "    b",
            "  l: |",
            "    a",
            "    b",
            '  "n": "off"',
            '  "null": "null"',
            "  q: it's",
            "  s: ' lead'",
            "  star: '*a'",
            '  t: "12:30:45"',
            '  tab: "a\\tb"',
            '  u: "1_000"',
            '  "y": "yes"',
            "",
          ].join("\n"),
        );
        expect(await api.put(path, text, YAML)).toMatchObject({ code: 200, body: { data: AMBIGUOUS } });
      },
    },
    {
      name: "a lone half of a surrogate pair becomes U+FFFD",
      async run({ api, core }) {
        const text =
          '{"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"a"},"data":{"a":"\\ud800","b":"\\ud83d\\ude00"}}';
        const answer = await api.post(core("configmaps"), text);
        expect(answer).toMatchObject({ code: 201, body: { data: { a: "\ufffd", b: "😀" } } });
      },
    },
    {
      name: "no more than a hundred unknown fields, or fields given twice, are reported",
      async run({ api, core }) {
        const unknown = Object.fromEntries(Array.from({ length: 300 }, (_, i) => [`u${i}`, 1]));
        const strict = `${core("configmaps")}?fieldValidation=Strict`;
        const count = (answer: { body: Readonly<Record<string, unknown>> }): number =>
          String(answer.body["message"]).split(" field ").length - 1;
        expect(count(await api.post(strict, { ...configMap("a"), ...unknown }))).toBe(100);
        const twice = Array.from({ length: 400 }, (_, i) => `"k${i >> 1}":"v"`).join(",");
        const body = `{"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"a"},"data":{${twice}}}`;
        expect(count(await api.post(strict, body))).toBe(100);
        const warned = await api.post(core("configmaps"), { ...configMap("a"), ...unknown });
        expect(warned.code).toBe(201);
        expect(String(warned.headers["warning"]).split("unknown field").length - 1).toBe(100);
      },
    },
    {
      name: "null is an object without anything, and a JSON patch without operations",
      async run({ api, core }) {
        await made(api.post(core("configmaps"), configMap("a", { data: { x: "y" } })));
        const path = core("configmaps", "a");
        const required = "metadata.name: Required value: name or generateName is required";
        refused(await api.post(core("configmaps"), "null"), 422, "Invalid", `ConfigMap "" is invalid: ${required}`);
        const unnamed = "the name of the object (a based on URL) was undeterminable: name must be provided";
        refused(await api.put(path, "null"), 400, "BadRequest", unnamed);
        refused(await api.patch(path, "merge", "null"), 400, "BadRequest", "Invalid JSON Patch");
        expect(await api.patch(path, "json", "null")).toMatchObject({ code: 200, body: { data: { x: "y" } } });
        const applied = await api.patch(`${path}?fieldManager=x`, "apply", "null");
        refused(applied, 400, "BadRequest", "invalid object type: /, Kind=");
      },
    },
    {
      name: "generateName is checked by the rules of names",
      async run({ api, core }) {
        const post = (generateName: string, name?: string) =>
          api.post(core("configmaps"), {
            apiVersion: "v1",
            kind: "ConfigMap",
            metadata: { generateName, ...(name === undefined ? {} : { name }) },
          });
        for (const prefix of ["a-", "a--", `${"g".repeat(253)}-`]) expect((await post(prefix)).code, prefix).toBe(201);
        const long = await post("g".repeat(300));
        refused(long, 422, "Invalid");
        expect(long.body["details"]).toMatchObject({
          causes: [{ field: "metadata.generateName", reason: "FieldValueInvalid" }],
        });
        expect(JSON.stringify(long.body)).toContain("must be no more than 253 characters");
        refused(await post("a."), 422, "Invalid");
        refused(await post("BAD_", "ok"), 422, "Invalid");
      },
    },
    ...[13_000, 15_000].map(isStored(true)),
    ...[15_700, 20_000].map(isStored(false)),
  ],
};

/** Records of more than a mebibyte and a half are not stored; names here are of a hundred characters. */
function isStored(fits: boolean): (names: number) => ContractCase {
  return (count) => ({
    name: `a Role with ${count} names of a hundred characters is ${fits ? "stored" : "refused"}`,
    async run({ api, apis }) {
      const apiVersion = "rbac.authorization.k8s.io/v1";
      const resourceNames = Array.from({ length: count }, (_, i) => String(i).padStart(100, "n"));
      const rules = [{ apiGroups: [""], resources: ["pods"], verbs: ["get"], resourceNames }];
      const role = { apiVersion, kind: "Role", metadata: { name: "r" }, rules };
      const answer = await api.post(apis(apiVersion, "roles"), role);
      // A dry run stores nothing.
      expect(
        (await api.post(`${apis(apiVersion, "roles")}?dryRun=All`, { ...role, metadata: { name: "t" } })).code,
      ).toBe(201);
      if (fits) expect(answer.code).toBe(201);
      else expect(answer).toMatchObject({ code: 500, body: { message: "etcdserver: request is too large" } });
    },
  });
}
