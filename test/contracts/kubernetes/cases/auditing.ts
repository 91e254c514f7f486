import { randomUUID } from "node:crypto";
import { expect } from "vitest";
import { auditEvents } from "../audit-policy.ts";
import type { Answer, CaseGroup, Context, Json, Raw } from "../interface.ts";
import { at, configMap, done, eventually, grant, made } from "./shorthands.ts";

const MASTERS = ["audited", "system:masters"];

/** Sends a request of which there will be `count` events, and gives these. */
async function audited(
  c: Context,
  count: number,
  send: (extras: { headers: Record<string, string> }) => Promise<Answer>,
): Promise<{ answer: Answer; events: Json[] }> {
  const id = randomUUID();
  const answer = await send({ headers: { "audit-id": id } });
  const events = await eventually(async () => {
    const found = auditEvents(c.target.auditLog, id);
    return found.length >= count ? found : undefined;
  }, `${count} audit events`);
  return { answer, events };
}

function stages(events: readonly Json[]): unknown[] {
  return events.map((e) => e["stage"]);
}

function admin(c: Context): Promise<Raw> {
  return c.as({ user: c.unique("audited"), groups: MASTERS });
}

export const auditing: CaseGroup = {
  title: "auditing",
  cases: [
    {
      name: "every response has the audit ID of its request: a new one, or the client's",
      async run({ api }) {
        expect((await api.get("/version")).headers["audit-id"]).toMatch(/^[0-9a-f-]{36}$/);
        const answer = await api.get("/version", { headers: { "audit-id": "of-the-client" } });
        expect(answer.headers["audit-id"]).toBe("of-the-client");
      },
    },
    {
      name: "a creation is recorded when it comes and when its response is sent, with both bodies where the policy says so",
      async run(c) {
        const user = await admin(c);
        const { events } = await audited(c, 2, (extras) => user.post(c.core("configmaps"), configMap("a"), extras));
        expect(stages(events)).toEqual(["RequestReceived", "ResponseComplete"]);
        const [before, after] = events;
        const common = {
          kind: "Event",
          apiVersion: "audit.k8s.io/v1",
          level: "RequestResponse",
          requestURI: c.core("configmaps"),
          verb: "create",
          sourceIPs: ["127.0.0.1"],
          userAgent: "contract/1",
        };
        expect(before).toMatchObject(common);
        expect(before?.["objectRef"]).toEqual({ resource: "configmaps", namespace: c.namespace, apiVersion: "v1" });
        expect(before).not.toHaveProperty("annotations");
        expect(before?.["stageTimestamp"]).toBe(before?.["requestReceivedTimestamp"]);
        expect(before?.["stageTimestamp"]).toMatch(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{6}Z$/);
        expect(at(before, "user", "username")).toBe(c.unique("audited"));
        expect(at(before, "user", "groups")).toEqual(["audited", "system:masters", "system:authenticated"]);
        expect(Object.keys(at(before, "user", "extra") as Json)).toEqual([
          "authentication.kubernetes.io/credential-id",
        ]);
        expect(after).toMatchObject(common);
        expect(after?.["objectRef"]).toEqual({
          resource: "configmaps",
          namespace: c.namespace,
          name: "a",
          apiVersion: "v1",
        });
        expect(after?.["responseStatus"]).toEqual({ metadata: {}, code: 201 });
        expect(after?.["annotations"]).toEqual({
          "authorization.k8s.io/decision": "allow",
          "authorization.k8s.io/reason": "",
        });
        expect(after?.["requestObject"]).toMatchObject({ kind: "ConfigMap", metadata: { name: "a" } });
        const response = after?.["responseObject"] as Json;
        expect(response).toMatchObject({ kind: "ConfigMap", metadata: { name: "a", namespace: c.namespace } });
        expect(response["metadata"]).toHaveProperty("uid");
        expect(response["metadata"]).not.toHaveProperty("managedFields");
      },
    },
    {
      name: "Secrets are recorded without bodies where the policy says Metadata",
      async run(c) {
        const user = await admin(c);
        const secret = { apiVersion: "v1", kind: "Secret", metadata: { name: "s" }, stringData: { a: "hidden" } };
        const { events } = await audited(c, 2, (extras) => user.post(c.core("secrets"), secret, extras));
        for (const event of events) {
          expect(event).toMatchObject({ level: "Metadata", verb: "create" });
          expect(event).not.toHaveProperty("requestObject");
          expect(event).not.toHaveProperty("responseObject");
        }
        expect(at(events[1], "objectRef", "name")).toBe("s");
      },
    },
    {
      name: "stages that a rule leaves out are not written, and level Request keeps the request alone",
      async run(c) {
        const user = await admin(c);
        const lease = { apiVersion: "coordination.k8s.io/v1", kind: "Lease", metadata: { name: "l" } };
        const path = c.apis("coordination.k8s.io/v1", "leases");
        const { events } = await audited(c, 1, (extras) => user.post(path, lease, extras));
        expect(stages(events)).toEqual(["ResponseComplete"]);
        expect(events[0]).toMatchObject({
          level: "Request",
          objectRef: { resource: "leases", apiGroup: "coordination.k8s.io", apiVersion: "v1", name: "l" },
          requestObject: { kind: "Lease", metadata: { name: "l" } },
        });
        expect(events[0]).not.toHaveProperty("responseObject");
      },
    },
    {
      name: "a patch is recorded as it was sent",
      async run(c) {
        const user = await admin(c);
        await made(user.post(c.core("configmaps"), configMap("p")));
        const { events } = await audited(c, 2, (extras) =>
          user.call(
            "PATCH",
            c.core("configmaps", "p"),
            { data: { a: "b" } },
            {
              headers: { ...extras.headers, "content-type": "application/merge-patch+json" },
            },
          ),
        );
        expect(events[1]).toMatchObject({
          verb: "patch",
          objectRef: { name: "p" },
          requestObject: { data: { a: "b" } },
          responseObject: { kind: "ConfigMap", data: { a: "b" } },
          responseStatus: { metadata: {}, code: 200 },
        });
      },
    },
    {
      name: "a refusal is recorded with its reason",
      async run(c) {
        const user = await c.as({ user: "without-rights", groups: ["audited"] });
        const { answer, events } = await audited(c, 2, (extras) => user.get(c.core("configmaps", "x"), extras));
        expect(answer.code).toBe(403);
        expect(events[1]).toMatchObject({
          stage: "ResponseComplete",
          annotations: { "authorization.k8s.io/decision": "forbid", "authorization.k8s.io/reason": "" },
          responseStatus: {
            metadata: {},
            status: "Failure",
            message: answer.body["message"],
            reason: "Forbidden",
            details: { name: "x", kind: "configmaps" },
            code: 403,
          },
        });
      },
    },
    {
      name: "a request for a missing object is recorded as not found",
      async run(c) {
        const user = await admin(c);
        const { events } = await audited(c, 2, (extras) => user.get(c.core("configmaps", "none"), extras));
        expect(at(events[1], "responseStatus")).toEqual({
          metadata: {},
          status: "Failure",
          message: 'configmaps "none" not found',
          reason: "NotFound",
          details: { name: "none", kind: "configmaps" },
          code: 404,
        });
        expect(at(events[1], "responseObject")).toMatchObject({ kind: "Status", code: 404 });
      },
    },
    {
      name: "the rule that allowed a request is named",
      async run(c) {
        const user = c.unique("allowed");
        await grant(c, user, [{ apiGroups: [""], resources: ["pods"], verbs: ["list"] }]);
        const asker = await c.as({ user, groups: ["audited"] });
        await eventually(async () => ((await asker.get(c.core("pods"))).code === 200 ? true : undefined));
        const { events } = await audited(c, 2, (extras) => asker.get(c.core("pods"), extras));
        expect(at(events[1], "annotations")).toEqual({
          "authorization.k8s.io/decision": "allow",
          "authorization.k8s.io/reason": `RBAC: allowed by RoleBinding "${user}/${c.namespace}" of Role "${user}" to User "${user}"`,
        });
      },
    },
    {
      name: "an impersonated request is recorded with both users",
      async run(c) {
        const user = await admin(c);
        const { events } = await audited(c, 2, ({ headers }) =>
          user.get(c.core("pods"), { headers: { ...headers, "impersonate-user": "jane", "impersonate-group": "dev" } }),
        );
        expect(events[0]).not.toHaveProperty("impersonatedUser");
        expect(events[1]).toMatchObject({
          user: { username: c.unique("audited") },
          impersonatedUser: { username: "jane", groups: ["dev", "system:authenticated"] },
          annotations: { "authorization.k8s.io/decision": "forbid" },
        });
      },
    },
    {
      name: "a watch is recorded when it begins and when it ends",
      async run(c) {
        const user = await admin(c);
        const { events } = await audited(c, 3, (extras) =>
          user.get(`${c.core("configmaps")}?watch=true&timeoutSeconds=1`, extras),
        );
        expect(stages(events)).toEqual(["RequestReceived", "ResponseStarted", "ResponseComplete"]);
        expect(events[1]).toMatchObject({ verb: "watch", responseStatus: { metadata: {}, code: 200 } });
        expect(events[2]).toMatchObject({ verb: "watch", responseStatus: { metadata: {}, code: 200 } });
        expect(events[2]).not.toHaveProperty("responseObject");
      },
    },
    {
      name: "a deletion is recorded with the Status that answers it",
      async run(c) {
        const user = await admin(c);
        const created = await made(user.post(c.core("configmaps"), configMap("d")));
        const { events } = await audited(c, 2, (extras) =>
          user.call("DELETE", c.core("configmaps", "d"), undefined, extras),
        );
        expect(events[1]).toMatchObject({
          verb: "delete",
          responseStatus: {
            metadata: {},
            status: "Success",
            details: { name: "d", kind: "configmaps", uid: at(created, "metadata", "uid") },
            code: 200,
          },
          responseObject: { kind: "Status", status: "Success" },
        });
      },
    },
    {
      name: "a list is recorded without its items' managed fields",
      async run(c) {
        const user = await admin(c);
        await made(user.post(c.core("configmaps"), configMap("one")));
        const { events } = await audited(c, 2, (extras) => user.get(c.core("configmaps"), extras));
        const items = at(events[1], "responseObject", "items") as Json[];
        expect(items.length).toBeGreaterThan(0);
        for (const item of items) expect(item["metadata"]).not.toHaveProperty("managedFields");
        expect(at(events[1], "responseObject", "kind")).toBe("ConfigMapList");
      },
    },
    {
      name: "paths that are no resources are recorded without an object",
      async run(c) {
        const user = await admin(c);
        const { events } = await audited(c, 2, (extras) => user.get("/version", extras));
        expect(events[1]).toMatchObject({ verb: "get", requestURI: "/version", level: "Metadata" });
        expect(events[1]).not.toHaveProperty("objectRef");
        expect(at(events[1], "responseStatus")).toEqual({ metadata: {}, code: 200 });
      },
    },
    {
      name: "credentials that are not right are recorded once, without a user",
      async run(c) {
        const user = await c.as({ token: "not-a-token" });
        const { answer, events } = await audited(c, 1, (extras) => user.get("/audited/path", extras));
        expect(answer.code).toBe(401);
        expect(stages(events)).toEqual(["ResponseStarted"]);
        expect(events[0]).toMatchObject({
          user: {},
          responseStatus: {
            metadata: {},
            status: "Failure",
            message: "Unauthorized",
            reason: "Unauthorized",
            code: 401,
          },
        });
      },
    },
    {
      name: "a request that the policy excludes is not recorded",
      async run(c) {
        const user = await admin(c);
        const silent = randomUUID();
        await done(user.get(c.core("services"), { headers: { "audit-id": silent } }));
        await audited(c, 2, (extras) => user.get(c.core("endpoints"), extras));
        expect(auditEvents(c.target.auditLog, silent)).toEqual([]);
      },
    },
  ],
};
