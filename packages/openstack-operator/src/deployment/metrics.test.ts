import type { OpenStackDeployment } from "@causeway/api";
import { createAuthority, createMetrics } from "@causeway/foundation";
import type { Secret } from "@causeway/kubernetes";
import { expect, test } from "vitest";
import type { GatherFrom } from "./gather.ts";
import { exposeMetrics } from "./metrics.ts";

const NOW = Date.UTC(2026, 0, 1);

test("metrics have components, certificates, keys and backups of what there is, and nothing of what was deleted", async () => {
  const metrics = createMetrics();
  const authority = await createAuthority({ commonName: "cloud", lifetime: 86_400_000, now: NOW });
  const deployment = {
    metadata: { name: "cloud", namespace: "openstack" },
    spec: { backup: { everyHours: 6 } },
    status: {
      phase: "Updating",
      conditions: [{ type: "Ready", status: "False" }],
      components: [
        { name: "nova-api", kind: "Deployment", state: "Degraded" },
        { name: "nova-db-sync", kind: "Job", state: "Failed" },
        { name: "nova-compute", kind: "DaemonSet", state: "Waiting", waitingFor: ["nova-conductor", "libvirt"] },
      ],
      backups: [
        { run: "b", state: "Failed", startedAt: "2026-01-01T06:00:00Z" },
        { run: "a", state: "Complete", startedAt: "2026-01-01T00:00:00Z", bytes: 77 },
      ],
      maintenance: [
        { node: "a", phase: "Blocked", servers: 1, message: "" },
        { node: "b", phase: "Blocked", servers: 1, message: "" },
      ],
      rotation: { step: "makes second accounts" },
    },
  } as unknown as OpenStackDeployment;
  const secret = (name: string, more: object): Secret => ({ metadata: { name }, ...more }) as unknown as Secret;
  const secrets = [
    secret("cloud-libvirt-certificates", {
      data: { "tls.crt": Buffer.from(authority.certificate).toString("base64") },
    }),
    secret("cloud-octavia-certificates", { data: { "tls.crt": Buffer.from("no certificate").toString("base64") } }),
    {
      metadata: {
        name: "cloud-token-keys",
        annotations: { "openstack.causeway.dev/rotated-at": "2026-01-01T00:00:00Z" },
      },
    },
  ];
  let all = [deployment];
  const from = {
    deployments: { list: () => all },
    written: [{ type: { kind: "Secret" }, byIndex: () => secrets }],
  } as unknown as GatherFrom;
  const end = exposeMetrics(metrics, from);
  const text = await metrics.render();
  for (const line of [
    'causeway_operator_deployment_ready{deployment="openstack/cloud",phase="Updating"} 0',
    'causeway_operator_component_ready{deployment="openstack/cloud",component="nova-api"} 1',
    'causeway_operator_component_degraded{deployment="openstack/cloud",component="nova-api"} 1',
    'causeway_operator_component_failed{deployment="openstack/cloud",component="nova-db-sync"} 1',
    'causeway_operator_component_unmet_dependencies{deployment="openstack/cloud",component="nova-compute"} 2',
    `causeway_operator_certificate_expiry_timestamp_seconds{deployment="openstack/cloud",certificate="libvirt-certificates"} ${NOW / 1000 + 86_400}`,
    `causeway_operator_keys_rotated_timestamp_seconds{deployment="openstack/cloud",keys="token-keys"} ${NOW / 1000}`,
    'causeway_operator_rotation_under_way{deployment="openstack/cloud"} 1',
    `causeway_operator_backup_timestamp_seconds{deployment="openstack/cloud"} ${NOW / 1000}`,
    'causeway_operator_backup_interval_seconds{deployment="openstack/cloud"} 21600',
    'causeway_operator_backup_bytes{deployment="openstack/cloud"} 77',
    'causeway_operator_backup_failed{deployment="openstack/cloud"} 1',
    'causeway_operator_maintenance_nodes{deployment="openstack/cloud",phase="Blocked"} 2',
  ])
    expect(text).toContain(line);
  expect(text).not.toContain("octavia-certificates");
  all = [];
  expect(await metrics.render()).not.toContain("openstack/cloud");
  all = [deployment];
  end();
  expect(await metrics.render()).not.toContain("openstack/cloud");
});
