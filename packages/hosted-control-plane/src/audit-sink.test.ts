import { createAuthority } from "@causeway/foundation";
import { beforeAll, expect, test } from "vitest";
import { auditSinkConfig, auditSinkProblem, refuseAuditSink, type PermittedSinks } from "./audit-sink.ts";
import type { AuditSink } from "./runtime.ts";

let authority: string;
beforeAll(async () => {
  authority = (await createAuthority({ commonName: "sink", lifetime: 3600_000 })).certificate;
});

const networks = ["192.0.2.0/24"];
const at = (url: string, more: object = {}): AuditSink => ({ url, ...more });
const sink = at("https://sink.test/events");

test.for<[string, AuditSink, PermittedSinks, string | undefined]>([
  ["a name", sink, { networks }, undefined],
  ["an address in the network", at("https://192.0.2.9:8443"), { networks }, undefined],
  ["an address outside", at("https://10.0.0.9"), { networks }, "in no allowed network; the operator's option --audit-"],
  ["an address of this machine in hexadecimal", at("https://0x7f000001"), { networks }, "127.0.0.1 is a loopback"],
  ["a metadata service", at("https://169.254.169.254"), { networks: ["0.0.0.0/0"] }, "a link-local address"],
  ["a name of this machine", at("https://localhost:1"), { networks: ["0.0.0.0/0"] }, "is a name of this machine"],
  ["any network where the operator permits none", sink, { networks: undefined }, "start with --audit-networks"],
  ["any network where the operator's list is empty", sink, { networks: [] }, "start with --audit-networks"],
])("an audit sink at %s: %s", ([, given, permitted, why]) => {
  const problem = auditSinkProblem(given, permitted);
  if (why === undefined) return expect(problem).toBeUndefined();
  expect(problem?.message).toContain(why);
  expect(problem?.code).toBe("AUDIT_SINK_NOT_PERMITTED");
  expect(() => refuseAuditSink(given, permitted)).toThrow(why);
});

test.for<[string, object, string]>([
  ["an authority that is none", { certificateAuthority: "none" }, "certificateAuthority: it has no PEM certificate"],
  ["a Secret that does not exist", { tokenSecret: "sink" }, "tokenSecret: Secret sink with the label"],
  ["a token in two lines", { tokenSecret: "sink", token: "top\nsecret" }, "has no token in one line"],
])("an audit sink with %s is refused, and no token is shown", ([, more, why]) => {
  const problem = auditSinkProblem(at(sink.url, more), { networks });
  expect(problem).toMatchObject({ code: "AUDIT_SINK_INVALID", actor: "user" });
  expect(problem?.message).toContain(why);
  expect(problem?.message).not.toContain("secret");
});

test("no audit sink needs no permission", () => {
  expect(auditSinkProblem(undefined, { networks: undefined })).toBeUndefined();
});

test("kube-apiserver gets the URL as it is, the certificates without what is between them, and the token", () => {
  const read = (given: AuditSink) => JSON.parse(auditSinkConfig(given)) as Record<string, readonly object[]>;
  const config = read(at(sink.url, { certificateAuthority: `# mine\n${authority}end`, token: "t" }));
  const ca = Buffer.from(`${authority.trim()}\n`).toString("base64");
  expect(config["clusters"]).toEqual([
    { name: "audit", cluster: { server: sink.url, "certificate-authority-data": ca } },
  ]);
  expect(config["users"]).toEqual([{ name: "kube-apiserver", user: { token: "t" } }]);
  const proxied = JSON.parse(auditSinkConfig(sink, "http://a:b@127.0.0.1:1")) as { clusters: readonly object[] };
  const cluster = { server: sink.url, "proxy-url": "http://a:b@127.0.0.1:1" };
  expect(proxied.clusters).toEqual([{ name: "audit", cluster }]);
  expect(read(sink)["clusters"]).toEqual([{ name: "audit", cluster: { server: sink.url } }]);
  expect(read(sink)["users"]).toEqual([{ name: "kube-apiserver", user: {} }]);
});
