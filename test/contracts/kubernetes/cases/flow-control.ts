import { expect } from "vitest";
import type { Answer, CaseGroup, Context, Identity, Raw } from "../interface.ts";
import { level, limited, LEVELS, PODS, ruled, schema, SCHEMAS } from "./flow-refusals.ts";
import { at, done, eventually, grant, made } from "./shorthands.ts";

/** Name, level, precedence, distinguisher. */
const OWN_SCHEMAS: readonly (readonly [string, string, number, string?])[] = [
  ["exempt", "exempt", 1],
  ["probes", "exempt", 2],
  ["system-leader-election", "leader-election", 100, "ByUser"],
  ["system-node-high", "node-high", 400, "ByUser"],
  ["system-nodes", "system", 500, "ByUser"],
  ["kube-controller-manager", "workload-high", 800, "ByNamespace"],
  ["kube-scheduler", "workload-high", 800, "ByNamespace"],
  ["kube-system-service-accounts", "workload-high", 900, "ByNamespace"],
  ["service-accounts", "workload-low", 9000, "ByUser"],
  ["global-default", "global-default", 9900, "ByUser"],
  ["catch-all", "catch-all", 10_000, "ByUser"],
];

/** Name, shares, percent to lend, queues, hand. */
const OWN_LEVELS: readonly (readonly [string, number, number, number, number])[] = [
  ["system", 30, 33, 64, 6],
  ["node-high", 40, 25, 64, 6],
  ["leader-election", 10, 0, 16, 4],
  ["workload-high", 40, 50, 128, 6],
  ["workload-low", 100, 90, 128, 6],
  ["global-default", 20, 50, 128, 6],
];

const uidOf = async (api: Raw, path: string): Promise<unknown> => at((await api.get(path)).body, "metadata", "uid");
const flowOf = ({ headers }: Answer) => ({
  schema: headers["x-kubernetes-pf-flowschema-uid"],
  level: headers["x-kubernetes-pf-prioritylevel-uid"],
});

/** Who sends a request, for which path, and the flow schema and priority level that it is matched to. */
const CLASSIFIED: readonly (readonly [string, Identity, string, string, string])[] = [
  ["an administrator", { user: "a", groups: ["system:masters"] }, "/api/v1/pods", "exempt", "exempt"],
  ["a probe", { anonymous: true }, "/livez", "probes", "exempt"],
  ["any user", { user: "jane" }, "/api/v1/pods", "global-default", "global-default"],
  ["an anonymous user", { anonymous: true }, "/api/v1/pods", "global-default", "global-default"],
  ["a node about pods", { user: "system:node:n", groups: ["system:nodes"] }, "/api/v1/pods", "system-nodes", "system"],
  [
    "a node about its lease",
    { user: "system:node:n", groups: ["system:nodes"] },
    "/apis/coordination.k8s.io/v1/namespaces/kube-node-lease/leases/n",
    "system-node-high",
    "node-high",
  ],
  ["the scheduler", { user: "system:kube-scheduler" }, "/api/v1/pods", "kube-scheduler", "workload-high"],
  [
    "the scheduler about its lease",
    { user: "system:kube-scheduler" },
    "/apis/coordination.k8s.io/v1/namespaces/kube-system/leases/s",
    "system-leader-election",
    "leader-election",
  ],
];

export const flowControl: CaseGroup = {
  title: "priority and fairness",
  cases: [
    ...OWN_SCHEMAS.map(([name, to, precedence, by]) => ({
      name: `FlowSchema ${name} exists from the start`,
      async run({ api }: Context) {
        const { spec, metadata, status } = await done(api.get(`${SCHEMAS}/${name}`));
        expect(spec).toMatchObject({ priorityLevelConfiguration: { name: to }, matchingPrecedence: precedence });
        expect(at(spec, "distinguisherMethod", "type")).toBe(by);
        expect(at(metadata, "annotations")).toEqual({ "apf.kubernetes.io/autoupdate-spec": "true" });
        expect(at(status, "conditions", 0)).toMatchObject({
          type: "Dangling",
          status: "False",
          reason: "Found",
          message: `This FlowSchema references the PriorityLevelConfiguration object named "${to}" and it exists`,
        });
      },
    })),
    ...OWN_LEVELS.map(([name, shares, lendable, queues, handSize]) => ({
      name: `PriorityLevelConfiguration ${name} exists from the start`,
      async run({ api }: Context) {
        const { spec, status } = await done(api.get(`${LEVELS}/${name}`));
        const limitResponse = { type: "Queue", queuing: { queues, handSize, queueLengthLimit: 50 } };
        const own = { nominalConcurrencyShares: shares, limitResponse, lendablePercent: lendable };
        expect({ spec, status }).toEqual({ spec: { type: "Limited", limited: own }, status: {} });
      },
    })),
    {
      name: "PriorityLevelConfigurations exempt and catch-all exist from the start",
      async run({ api }) {
        expect((await done(api.get(`${LEVELS}/exempt`)))["spec"]).toEqual({
          type: "Exempt",
          exempt: { nominalConcurrencyShares: 0, lendablePercent: 0 },
        });
        expect((await done(api.get(`${LEVELS}/catch-all`)))["spec"]).toEqual({
          type: "Limited",
          limited: { nominalConcurrencyShares: 5, limitResponse: { type: "Reject" }, lendablePercent: 0 },
        });
      },
    },
    ...CLASSIFIED.map(([who, identity, path, schemaName, levelName]) => ({
      name: `FlowSchema ${schemaName} has the requests of ${who}`,
      async run({ api, as }: Context) {
        const client = await as(identity);
        expect(flowOf(await client.get(path))).toEqual({
          schema: await uidOf(api, `${SCHEMAS}/${schemaName}`),
          level: await uidOf(api, `${LEVELS}/${levelName}`),
        });
      },
    })),
    {
      name: "a PriorityLevelConfiguration gets defaults for what it leaves out",
      async run({ api, unique }) {
        const body = await made(api.post(LEVELS, level(unique("plain"), limited({}))));
        expect(body["spec"]).toEqual({
          type: "Limited",
          limited: {
            nominalConcurrencyShares: 30,
            limitResponse: { type: "Queue", queuing: { queues: 64, handSize: 8, queueLengthLimit: 50 } },
            lendablePercent: 0,
          },
        });
        await done(api.delete(`${LEVELS}/${unique("plain")}`));
      },
    },
    {
      name: "a flow schema without its priority level has condition Dangling, until the level is created",
      async run({ api, unique }) {
        const [name, to] = [unique("lost"), unique("later")];
        const spec = { ...ruled({ resourceRules: [PODS] }), priorityLevelConfiguration: { name: to } };
        const body = await made(api.post(SCHEMAS, schema(name, spec)));
        expect(at(body, "spec", "matchingPrecedence")).toBe(1000);
        const condition = (status: string): Promise<unknown> =>
          eventually(async () => {
            const found = at((await api.get(`${SCHEMAS}/${name}`)).body, "status", "conditions", 0);
            return at(found, "status") === status ? found : undefined;
          }, `Dangling ${status}`);
        expect(await condition("True")).toMatchObject({
          reason: "NotFound",
          message: `This FlowSchema references the PriorityLevelConfiguration object named "${to}" but there is no such object`,
        });
        await made(api.post(LEVELS, level(to, limited({}))));
        expect(await condition("False")).toMatchObject({ reason: "Found" });
        await done(api.delete(`${SCHEMAS}/${name}`));
        await done(api.delete(`${LEVELS}/${to}`));
      },
    },
    {
      name: "a new FlowSchema classifies requests",
      async run(context) {
        const { api, as, unique, core } = context;
        const [name, user] = [unique("mine"), unique("user")];
        await grant(context, user, [{ apiGroups: [""], resources: ["configmaps"], verbs: ["list"] }]);
        const rule = { verbs: ["list"], apiGroups: [""], resources: ["configmaps"], namespaces: [context.namespace] };
        const rules = [{ subjects: [{ kind: "User", user: { name: user } }], resourceRules: [rule] }];
        const spec = { priorityLevelConfiguration: { name: "workload-high" }, matchingPrecedence: 50, rules };
        const body = await made(api.post(SCHEMAS, schema(name, spec)));
        const client = await as({ user });
        await eventually(async () => {
          const { schema: uid } = flowOf(await client.get(core("configmaps")));
          return uid === at(body, "metadata", "uid") ? true : undefined;
        }, "the schema");
        expect(flowOf(await client.get(core("configmaps", "x"))).schema).not.toBe(at(body, "metadata", "uid"));
        await done(api.delete(`${SCHEMAS}/${name}`));
      },
    },
    {
      name: "a request without a seat in its priority level is 429 in plain text",
      async run(context) {
        const { api, as, unique, core } = context;
        const [name, user] = [unique("jail"), unique("prisoner")];
        await grant(context, user, [{ apiGroups: [""], resources: ["configmaps"], verbs: ["create"] }]);
        const none = { nominalConcurrencyShares: 0, borrowingLimitPercent: 0, limitResponse: { type: "Reject" } };
        await made(api.post(LEVELS, level(name, limited(none))));
        const subjects = [{ kind: "User", user: { name: user } }];
        const all = { verbs: ["*"], apiGroups: ["*"], resources: ["*"], namespaces: ["*"], clusterScope: true };
        const spec = {
          priorityLevelConfiguration: { name },
          matchingPrecedence: 3,
          rules: [{ subjects, resourceRules: [all] }],
        };
        const body = await made(api.post(SCHEMAS, schema(name, spec)));
        const client = await as({ user });
        const generated = { apiVersion: "v1", kind: "ConfigMap", metadata: { generateName: "a-" } };
        const answer = await eventually(async () => {
          const all50 = Array.from({ length: 50 }, () => client.post(core("configmaps"), generated));
          return (await Promise.all(all50)).find((a) => a.code === 429);
        }, "429");
        expect(answer.text).toBe("Too many requests, please try again later.\n");
        expect(answer.headers["retry-after"]).toMatch(/^\d+$/);
        expect(answer.headers["content-type"]).toBe("text/plain; charset=utf-8");
        expect(flowOf(answer).schema).toBe(at(body, "metadata", "uid"));
        const { text } = await api.get("/metrics");
        const series = `apiserver_flowcontrol_rejected_requests_total\\{[^}]*priority_level="${name}"[^}]*\\} [1-9]`;
        expect(text).toMatch(new RegExp(series));
        await done(api.delete(`${SCHEMAS}/${name}`));
        await done(api.delete(`${LEVELS}/${name}`));
      },
    },
    {
      name: "a change of the fixed fields of a mandatory priority level is rejected",
      async run({ api }) {
        const change = { spec: { limited: { nominalConcurrencyShares: 6 } } };
        const answer = await api.patch(`${LEVELS}/catch-all`, "merge", change);
        expect(answer.code).toBe(422);
        expect(answer.body["message"]).toMatch(/spec of 'catch-all' must equal the fixed value$/);
        const lent = await api.patch(`${LEVELS}/exempt?dryRun=All`, "merge", {
          spec: { exempt: { lendablePercent: 5 } },
        });
        expect(lent.code).toBe(200);
      },
    },
    {
      name: "FlowSchemas and PriorityLevelConfigurations have kubectl's columns",
      async run({ api }) {
        const headers = { accept: "application/json;as=Table;g=meta.k8s.io;v=v1" };
        const row = async (path: string): Promise<unknown> =>
          at((await api.get(path, { headers })).body, "rows", 0, "cells");
        const age = expect.any(String) as string;
        expect(await row(`${SCHEMAS}/global-default`)).toEqual([
          "global-default",
          "global-default",
          9900,
          "ByUser",
          age,
          "False",
        ]);
        expect(await row(`${LEVELS}/system`)).toEqual(["system", "Limited", 30, 64, 6, 50, age]);
        expect(await row(`${LEVELS}/catch-all`)).toEqual([
          "catch-all",
          "Limited",
          5,
          "<none>",
          "<none>",
          "<none>",
          age,
        ]);
      },
    },
    {
      name: "metrics report the limits of priority levels",
      async run({ api }) {
        const { text } = await api.get("/metrics");
        for (const [name, seats] of [
          ["workload-low", 245],
          ["catch-all", 13],
          ["system", 74],
        ] as const) {
          expect(text).toContain(`apiserver_flowcontrol_nominal_limit_seats{priority_level="${name}"} ${seats}\n`);
        }
        expect(text).toContain('apiserver_flowcontrol_lower_limit_seats{priority_level="workload-low"} 24\n');
        expect(text).toMatch(/^apiserver_flowcontrol_dispatched_requests_total\{.*priority_level="exempt".*\} [1-9]/m);
      },
    },
    {
      name: "lists priority levels at /debug/api_priority_and_fairness/dump_priority_levels",
      async run({ api }) {
        const { code, text } = await api.get("/debug/api_priority_and_fairness/dump_priority_levels");
        expect(code).toBe(200);
        const [head = "", ...rows] = text.trim().split("\n");
        expect(head.split(/,\s*/).slice(0, 3)).toEqual(["PriorityLevelName", "ActiveQueues", "IsIdle"]);
        expect(rows.map((r) => r.split(",")[0])).toEqual(expect.arrayContaining(["exempt", "workload-low"]));
      },
    },
  ],
};
