import { readFileSync } from "node:fs";
import { join } from "node:path";
import type { OpenStackDeploymentSpec } from "@causeway/api";
import { describe, expect, test } from "vitest";
import { parseAllDocuments } from "yaml";
import { deploymentWebhooks, reviewDeployment, specRefusals } from "./review.ts";

const spec: OpenStackDeploymentSpec = {
  release: "2025.1",
  region: "RegionOne",
  domain: "cloud.example.org",
  nodeGroups: [{ name: "all", nodeSelector: {}, roles: ["Control", "Compute", "Network"] }],
};
const option = (section: string, name: string, value: string) => [{ section, option: name, value }];

describe("an OpenStackDeployment is refused for", () => {
  test.each([
    [
      "an option that the release does not know, with the nearest one and its path",
      { services: [{ name: "nova", configuration: option("DEFAULT", "cpu_alocation_ratio", "4") }] },
      "spec.services[0].configuration[0]: nova: [DEFAULT] cpu_alocation_ratio: no such option; did you mean cpu_allocation_ratio?",
    ],
    [
      "text where a number belongs",
      { services: [{ name: "nova", configuration: option("DEFAULT", "cpu_allocation_ratio", "many") }] },
      'spec.services[0].configuration[0]: nova: [DEFAULT] cpu_allocation_ratio: "many" is not a number',
    ],
    [
      "a port out of its range, on the nodes of a group",
      {
        nodeGroups: [
          {
            name: "all",
            nodeSelector: {},
            roles: ["Control", "Compute", "Network"],
            configuration: [{ service: "nova", options: option("vnc", "novncproxy_port", "70000") }],
          },
        ],
      },
      "spec.nodeGroups[0].configuration[0].options[0]: nova: [vnc] novncproxy_port: 70000 is more than 65535",
    ],
    [
      "a password in the open",
      { services: [{ name: "heat", configuration: option("trustee", "password", "secret") }] },
      "spec.services[0].configuration[0]: heat: [trustee] password: options with secrets go into the Secret of services[].secretConfiguration",
    ],
    [
      "another key of Heat, with what would be lost",
      { services: [{ name: "heat", configuration: option("DEFAULT", "auth_encryption_key", "k".repeat(32)) }] },
      "heat: [DEFAULT] auth_encryption_key: trusts and passwords of stacks are encrypted with the deployment's key, and would be lost",
    ],
    [
      "components that wait for each other",
      { services: [{ name: "keystone", startAfter: ["nova-api"] }] },
      "spec.services: components wait for each other",
    ],
    ["a service without one that it needs", { services: [{ name: "placement", enabled: false }] }, "spec.services: "],
  ] as [string, Partial<OpenStackDeploymentSpec>, string][])("%s", (_, more, message) => {
    expect(specRefusals({ name: "cloud" }, { ...spec, ...more }).join("; ")).toContain(message);
  });
});

describe("an admission review", () => {
  const review = (object: unknown) =>
    reviewDeployment({ kind: "AdmissionReview", request: { uid: "u", operation: "CREATE", object } }) as {
      response: { allowed: boolean; status?: { code: number; message: string } };
    };

  test("allows what is valid, and whatever is being deleted", () => {
    expect(review({ metadata: { name: "cloud" }, spec }).response).toEqual({ uid: "u", allowed: true });
    const wrong = {
      ...spec,
      services: [{ name: "nova", configuration: option("DEFAULT", "cpu_alocation_ratio", "4") }],
    };
    const deleted = { name: "cloud", deletionTimestamp: "2026-01-01T00:00:00Z" };
    expect(review({ metadata: deleted, spec: wrong }).response.allowed).toBe(true);
  });

  test("says how many problems it leaves out", () => {
    const configuration = Array.from({ length: 25 }, (_, at) => ({
      section: "DEFAULT",
      option: `zzz${at}`,
      value: "1",
    }));
    const { status } = review({
      metadata: { name: "cloud" },
      spec: { ...spec, services: [{ name: "nova", configuration }] },
    }).response;
    expect(status).toMatchObject({ code: 422 });
    expect(status?.message).toMatch(/; and 5 more$/);
  });

  test("refuses another body", () => {
    expect(() => reviewDeployment({ kind: "Pod" })).toThrow(/not an AdmissionReview/);
  });
});

test("the webhook of deploy/openstack-operator is called for what the operator's own is", () => {
  const file = join(import.meta.dirname, "../../../../deploy/openstack-operator/webhook/webhook.yaml");
  const documents = parseAllDocuments(readFileSync(file, "utf8")).map(
    (each) => each.toJS() as { kind: string; webhooks?: unknown },
  );
  const service = { namespace: "openstack", name: "causeway-openstack-operator", path: "/validate" };
  const found = documents.find(({ kind }) => kind === "ValidatingWebhookConfiguration");
  expect(found?.webhooks).toEqual(deploymentWebhooks({ service }));
});
