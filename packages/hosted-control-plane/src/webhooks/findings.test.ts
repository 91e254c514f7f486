import { describe, expect, test } from "vitest";
import { webhookConditions, webhookEvents, type Finding } from "./findings.ts";

describe("the finding of a webhook in a control plane's status", () => {
  const finding: Finding = {
    kind: "ValidatingWebhookConfiguration",
    name: "broken",
    webhook: "broken.example.com",
    what: "leases of nodes",
    because: "connection refused",
  };
  const statusOf = (status?: "True" | "False") =>
    ({ status: { conditions: status ? [{ type: "WebhooksHealthy", status }] : [] } }) as never;

  test("names the webhook and what to do", () => {
    const [condition] = webhookConditions([finding]);
    expect(condition).toMatchObject({ status: "False", reason: "ProblematicWebhook" });
    expect(condition?.message).toMatch(
      /^webhook broken.example.com of ValidatingWebhookConfiguration broken breaks leases of nodes: connection refused; .*PROBLEMATIC_WEBHOOK/,
    );
    const service: Finding = { kind: "APIService", name: "v1.x", what: "", because: "no endpoints" };
    expect(webhookConditions([service])[0]).toMatchObject({ reason: "ProblematicAPIService" });
    expect(webhookConditions([])[0]).toMatchObject({ status: "True" });
    expect(webhookConditions(undefined)).toEqual([]);
  });

  test.for<[before: "True" | "False" | undefined, found: readonly Finding[], events: string[]]>([
    [undefined, [], []],
    [undefined, [finding], ["ProblematicWebhook"]],
    ["False", [finding], []],
    ["False", [], ["WebhooksHealthy"]],
    ["True", [], []],
  ])("is sent as an event at a change from %s only", ([before, found, events]) => {
    expect(webhookEvents(statusOf(before), found).map(({ reason }) => reason)).toEqual(events);
  });
});
