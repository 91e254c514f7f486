import { expect } from "vitest";
import type { CaseGroup, Context, Json } from "../interface.ts";
import { at, invalid, made } from "./shorthands.ts";

const API_SERVICES = "/apis/apiregistration.k8s.io/v1/apiservices";
const GOOD = { group: "things.example.com", version: "v1", groupPriorityMinimum: 100, versionPriority: 10 };

function apiService(name: string, spec: Json): Json {
  return { apiVersion: "apiregistration.k8s.io/v1", kind: "APIService", metadata: { name }, spec };
}

const BAD: readonly (readonly [what: string, name: string, spec: Json, causes: readonly string[]])[] = [
  [
    "of another name than version and group",
    "v2.things.example.com",
    GOOD,
    [
      'metadata.name: Invalid value: "v2.things.example.com": must be `spec.version+"."+spec.group`: "v1.things.example.com"',
    ],
  ],
  [
    "without priorities",
    "v1.things.example.com",
    { group: "things.example.com", version: "v1" },
    [
      "spec.groupPriorityMinimum: Invalid value: 0: must be positive and less than 20000",
      "spec.versionPriority: Invalid value: 0: must be positive and less than 1000",
    ],
  ],
  [
    "of this server with an authority",
    "v1.things.example.com",
    { ...GOOD, insecureSkipTLSVerify: true },
    ["spec.insecureSkipTLSVerify: Invalid value: true: local APIServices may not have insecureSkipTLSVerify"],
  ],
  [
    "of a Service without a name",
    "v1.things.example.com",
    { ...GOOD, service: { namespace: "default" } },
    ["spec.service.name: Required value"],
  ],
];

export const apiServices: CaseGroup = {
  title: "APIServices",
  cases: [
    ...BAD.map(([what, name, spec, causes]) => ({
      name: `APIServices ${what} are refused`,
      async run({ api }: Context) {
        invalid(await api.post(API_SERVICES, apiService(name, spec)), ...causes);
      },
    })),
    {
      name: "an APIService of a Service listens at port 443 by default, and is deleted again",
      async run({ api }: Context) {
        const service = { namespace: "default", name: "nothing-is-there" };
        const name = "v1.absent.example.com";
        const spec = { ...GOOD, group: "absent.example.com", insecureSkipTLSVerify: true, service };
        const stored = await made(api.post(API_SERVICES, apiService(name, spec)));
        expect(at(stored, "spec", "service")).toEqual({ ...service, port: 443 });
        expect(await api.delete(`${API_SERVICES}/${name}`)).toMatchObject({ code: 200 });
      },
    },
  ],
};
