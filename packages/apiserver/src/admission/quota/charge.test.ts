import { describe, expect, test } from "vitest";
import { messageOf } from "@causeway/foundation";
import type { KubeObject } from "@causeway/kubernetes";
import type { Attempt } from "../../contract/admission.ts";
import type { Resource } from "../../contract/resource.ts";
import type { Json } from "../../json/json.ts";
import { charged, requested } from "./charge.ts";

const resource = (plural: string, group = ""): Resource =>
  ({ plural, group, storage: `${group}/${plural}` }) as unknown as Resource;
const PODS = resource("pods");
const SERVICES = resource("services");
const object = (spec: Json, more: Json = {}): KubeObject =>
  ({ metadata: { name: "o", namespace: "ns" }, spec, ...more }) as unknown as KubeObject;
const container = (requests: Json, limits: Json = {}, name = "c"): Json => ({ name, resources: { requests, limits } });

describe("a write is charged", () => {
  const quota = (hard: Json, used: Json, spec: Json = {}): KubeObject => ({
    ...object(spec, { status: { hard, used } }),
    metadata: { name: "q" },
  });
  const attempt = (made: KubeObject | undefined, old?: KubeObject, kind = PODS): Attempt =>
    ({ call: { resource: kind }, object: made, old }) as unknown as Attempt;
  const pod = (cpu: string, more: Json = {}): KubeObject => object({ containers: [container({ cpu })], ...more });
  const asked = (given: KubeObject, one: Attempt): unknown => {
    try {
      return requested(given, one);
    } catch (error) {
      return messageOf(error);
    }
  };
  const HARD = { pods: "3", "requests.cpu": "4" };
  const USED = { pods: "1", "requests.cpu": "3" };
  test.each<[string, KubeObject, Attempt, unknown]>([
    ["with all that it adds", quota(HARD, USED), attempt(pod("2")), { pods: "1", "requests.cpu": "2" }],
    ["with what the quota counts alone", quota({ pods: "3" }, { pods: "0" }), attempt(pod("2")), { pods: "1" }],
    [
      "with nothing of a quota of other things",
      quota({ secrets: "3" }, { secrets: "0" }),
      attempt(pod("2")),
      undefined,
    ],
    [
      "with nothing of a quota of another scope",
      quota(HARD, USED, { scopes: ["BestEffort"] }),
      attempt(pod("2")),
      undefined,
    ],
    ["with nothing when it deletes", quota(HARD, USED), attempt(undefined, pod("2")), undefined],
    [
      "with what it adds to what was there",
      quota(HARD, USED),
      attempt(pod("2"), pod("500m")),
      { "requests.cpu": "1500m" },
    ],
    ["with nothing when it adds nothing", quota(HARD, USED), attempt(pod("2"), pod("3")), undefined],
    [
      "with all when it comes into a scope",
      quota({ pods: "1" }, { pods: "0" }, { scopes: ["Terminating"] }),
      attempt(pod("1", { activeDeadlineSeconds: 1 }), pod("1")),
      { pods: "1" },
    ],
    [
      "only once its usage is known",
      quota(HARD, { pods: "1" }),
      attempt(pod("2")),
      'pods "o" is forbidden: status unknown for quota: q, resources: requests.cpu',
    ],
    [
      "only once any usage is known",
      quota(HARD, {}),
      attempt(pod("2")),
      'pods "o" is forbidden: status unknown for quota: q, resources: pods,requests.cpu',
    ],
    [
      "only if it says what it asks for",
      quota(HARD, USED),
      attempt(object({ containers: [container({})] })),
      'pods "o" is forbidden: failed quota: q: must specify requests.cpu for: c',
    ],
    [
      "where other kinds need not say",
      quota({ "count/services": "1" }, { "count/services": "0" }),
      attempt(object({}), undefined, SERVICES),
      { "count/services": "1" },
    ],
    [
      "by the names of its kind",
      quota({ services: "1" }, { services: "0" }),
      attempt(object({}), undefined, SERVICES),
      { services: "1" },
    ],
  ])("%s", (_what, given, one, expected) => {
    expect(asked(given, one)).toEqual(expected);
  });

  test("to the usage, up to what the quota allows", () => {
    const one = attempt(pod("1"));
    expect(charged(quota(HARD, USED), { pods: "1", "requests.cpu": "1" }, one)).toEqual({
      pods: "2",
      "requests.cpu": "4",
    });
    expect(charged(quota(HARD, { pods: "1", other: "5" }), { "requests.cpu": "1" }, one)).toEqual({
      pods: "1",
      other: "5",
      "requests.cpu": "1",
    });
    expect(() => charged(quota(HARD, USED), { pods: "3", "requests.cpu": "1001m" }, one)).toThrow(
      'pods "o" is forbidden: exceeded quota: q, requested: pods=3,requests.cpu=1001m, used: pods=1,requests.cpu=3, limited: pods=3,requests.cpu=4',
    );
    expect(() => charged(quota({ pods: "0" }, {}), { pods: "1" }, one)).toThrow(
      "requested: pods=1, used: pods=0, limited: pods=0",
    );
    expect(() => charged(quota(HARD, USED), { pods: "1", "requests.cpu": "2" }, one)).toThrow(
      "exceeded quota: q, requested: requests.cpu=2, used: requests.cpu=3, limited: requests.cpu=4",
    );
  });
});
