import type { Deployment, Secret } from "@causeway/kubernetes";
import { expect, test } from "vitest";
import type { AuditSink } from "../runtime.ts";
import { plan } from "./plan.ts";
import { now, PlayedCluster } from "./testing/played-cluster.ts";
import { specOf } from "./testing/spec.ts";
import type { NetworkPolicy } from "./types.ts";

const auditNetworks = ["198.51.100.0/24", "0.0.0.0/0"];
const sink: AuditSink = { url: "https://sink.test:8443/events", tokenSecret: "sink", token: "of-the-tenant" };
const POLICY = "NetworkPolicy/kube-apiserver-audit";

const argsOf = ({ live }: PlayedCluster): readonly string[] =>
  (live.get("Deployment/kube-apiserver") as Deployment).spec.template.spec.containers[0]?.command ?? [];
const webhookArgsOf = (cluster: PlayedCluster) => argsOf(cluster).filter((arg) => arg.startsWith("--audit-webhook"));
const egressOf = ({ live }: PlayedCluster) => (live.get(POLICY) as NetworkPolicy | undefined)?.spec.egress;
const configOf = ({ live }: PlayedCluster): string | undefined =>
  (live.get("Secret/kube-apiserver") as Secret).data?.["audit-webhook.conf"];

test("a tenant's audit sink has flags, a Secret and a policy of its own, and leaves none of them when it goes", () => {
  const cluster = new PlayedCluster({ auditNetworks });
  cluster.complete(specOf());
  expect([webhookArgsOf(cluster), egressOf(cluster), configOf(cluster)]).toEqual([[], undefined, undefined]);
  const before = cluster.live.get("NetworkPolicy/kube-apiserver");
  cluster.complete(specOf({ audit: sink }));
  expect(webhookArgsOf(cluster)).toContain("--audit-webhook-config-file=/etc/kubernetes/pki/audit-webhook.conf");
  expect(argsOf(cluster)).toContain("--audit-log-path=-");
  expect(egressOf(cluster)).toEqual([
    {
      to: [{ ipBlock: { cidr: "198.51.100.0/24" } }, { ipBlock: { cidr: "0.0.0.0/0", except: ["169.254.0.0/16"] } }],
      ports: [{ port: 8443, protocol: "TCP" }],
    },
  ]);
  expect(cluster.live.get("NetworkPolicy/kube-apiserver")).toEqual(before);
  cluster.complete(specOf());
  expect([webhookArgsOf(cluster), egressOf(cluster), configOf(cluster)]).toEqual([[], undefined, undefined]);
});

test.for<[string, readonly string[], readonly string[]]>([
  ["one of two", ["198.51.100.0/24"], ["198.51.100.0/24"]],
  ["both", ["203.0.113.0/24"], []],
])("of a request that is refused %s of the sinks' networks are closed once withdrawn, and nothing else", (row) => {
  const [, permitted, left] = row;
  const cluster = new PlayedCluster({ auditNetworks, issuerNetworks: auditNetworks });
  cluster.complete(specOf({ audit: sink }));
  cluster.performed.splice(0);
  cluster.settings = { ...cluster.settings, auditNetworks: permitted };
  const refused = specOf({ audit: sink, version: "v1.20.0" });
  cluster.complete(refused);
  expect(plan(cluster.observe(refused), now).status.problem?.code).toBe("PODS_VERSION_NOT_SERVED");
  expect(egressOf(cluster)?.flatMap(({ to = [] }) => to.map(({ ipBlock }) => ipBlock?.cidr))).toEqual(left);
  expect(cluster.performed).toEqual([`apply ${POLICY}`]);
});

test("a tenant's audit sink is refused where the operator's webhook receives all events", () => {
  const webhook = { url: "https://audit.test", certificateAuthority: "CA", token: "t", namespace: "logging" };
  const cluster = new PlayedCluster({ auditNetworks, audit: { log: "None", webhook } });
  cluster.complete(specOf({ audit: sink }));
  const { problem } = plan(cluster.observe(specOf({ audit: sink })), now).status;
  expect(problem).toMatchObject({ code: "AUDIT_SINK_NOT_PERMITTED", actor: "operator" });
  expect(cluster.performed).toEqual([]);
});
