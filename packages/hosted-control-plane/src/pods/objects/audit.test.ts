import { expect, test } from "vitest";
import { auditWebhookConfig } from "./audit.ts";

const webhook = {
  url: "https://audit.logging.svc:8443/events/",
  certificateAuthority: "CERTIFICATE",
  token: "of-the-collector",
  namespace: "logging",
};
const serverOf = (id: string) => {
  const { clusters } = JSON.parse(auditWebhookConfig(webhook, id)) as { clusters: { cluster: { server: string } }[] };
  return clusters.map(({ cluster }) => cluster.server);
};

test("audit events of each control plane go to a path of its own, also where names have dots", () => {
  expect(serverOf("team.web")).toEqual(["https://audit.logging.svc:8443/events/team/web"]);
  const ids = ["team.web", "team.web2", "team-web.web", "other.web", "team.web.one"];
  expect(new Set(ids.flatMap(serverOf)).size).toBe(ids.length);
});
