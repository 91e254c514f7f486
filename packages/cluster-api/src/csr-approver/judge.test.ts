import { describe, expect, test } from "vitest";
import type { Machine } from "@causeway/api";
import { at, now } from "../testing/objects.ts";
import { clientSigner, judge, servingSigner, type RequestFacts } from "./judge.ts";
import { plan } from "./plan.ts";

const machine = (status: NonNullable<Machine["status"]> = {}): Machine => ({
  apiVersion: "cluster.x-k8s.io/v1beta2",
  kind: "Machine",
  metadata: { name: "w-1" },
  spec: {
    clusterName: "demo",
    bootstrap: {},
    infrastructureRef: { apiGroup: "infrastructure.cluster.x-k8s.io", kind: "OpenStackMachine", name: "w-1" },
  },
  status,
});
const subject = { commonName: "system:node:w-1", organizations: ["system:nodes"], dnsNames: [], ipAddresses: [] };

const first: RequestFacts = {
  signer: clientSigner,
  username: "system:bootstrap:abcdef",
  groups: ["system:bootstrappers", "system:bootstrappers:kubeadm:default-node-token", "system:authenticated"],
  usages: ["digital signature", "key encipherment", "client auth"],
  subject,
  machine: machine(),
  tokenMachine: "w-1",
};
const renewal: RequestFacts = {
  ...first,
  username: "system:node:w-1",
  groups: ["system:nodes"],
  machine: machine({ nodeRef: { name: "w-1" } }),
  tokenMachine: undefined,
};
const serving: RequestFacts = {
  ...renewal,
  signer: servingSigner,
  usages: ["digital signature", "server auth"],
  subject: { ...subject, dnsNames: ["w-1"], ipAddresses: ["10.6.0.9"] },
  machine: machine({ addresses: [{ type: "InternalIP", address: "10.6.0.9" }] }),
};

describe("certificate requests", () => {
  test.each<[string, RequestFacts, string]>([
    ["a machine's first client certificate, with its own token", first, "approve"],
    ["a renewal by the node itself", renewal, "approve"],
    ["a serving certificate for addresses of the machine", serving, "approve"],
    ["a request for another signer", { ...first, signer: "kubernetes.io/kube-apiserver-client" }, "ignore"],
    ["a token that is not known (yet)", { ...first, tokenMachine: undefined }, "wait"],
    ["addresses that are not known yet", { ...serving, machine: machine() }, "wait"],
    ["a token made for another machine", { ...first, tokenMachine: "w-2" }, "leave"],
    ["a machine that has joined already", { ...first, machine: machine({ nodeRef: { name: "w-1" } }) }, "leave"],
    ["a name that no Machine has", { ...first, machine: undefined }, "leave"],
    ["a request that cannot be read", { ...first, subject: undefined }, "leave"],
    [
      "an administrator's certificate",
      { ...first, subject: { ...subject, organizations: ["system:masters"] } },
      "leave",
    ],
    [
      "more groups than system:nodes",
      { ...first, subject: { ...subject, organizations: ["system:nodes", "system:masters"] } },
      "leave",
    ],
    ["no node name", { ...first, subject: { ...subject, commonName: "system:node:" } }, "leave"],
    ["a client certificate with names", { ...first, subject: { ...subject, dnsNames: ["w-1"] } }, "leave"],
    ["a client certificate that could serve", { ...first, usages: ["client auth", "server auth"] }, "leave"],
    ["a user who is no bootstrapper", { ...first, username: "jane", groups: [] }, "leave"],
    ["a node that requests another node's renewal", { ...renewal, username: "system:node:w-2" }, "leave"],
    [
      "a serving certificate for a foreign address",
      { ...serving, subject: { ...subject, ipAddresses: ["10.0.0.1"] } },
      "leave",
    ],
    ["a serving certificate for nothing", { ...serving, subject }, "leave"],
    ["a serving certificate by the token", { ...serving, username: first.username, groups: first.groups }, "leave"],
    ["a serving certificate that could act as client", { ...serving, usages: ["server auth", "client auth"] }, "leave"],
  ])("%s", (_, request, verdict) => expect(judge(request).kind).toBe(verdict));
});

describe("the plan of a certificate request", () => {
  const planned = (facts: RequestFacts, age: number | undefined, username?: string) => {
    const created = age === undefined ? {} : { creationTimestamp: at(now - age) };
    const request = {
      apiVersion: "certificates.k8s.io/v1",
      kind: "CertificateSigningRequest",
      metadata: { name: "csr-1", ...created },
      spec: { request: "", signerName: facts.signer, ...(username === undefined ? {} : { username }) },
    } as const;
    return plan({ request, facts } as unknown as Parameters<typeof plan>[0], now);
  };
  const unknown = { ...first, tokenMachine: undefined };
  const left = (user: string, why: string) => ({
    steps: [],
    status: undefined,
    wait: { for: "a decision by an administrator" },
    events: [
      {
        type: "Warning",
        reason: "CertificateRequestLeft",
        message: `Certificate request csr-1 of ${user} is not approved automatically: ${why}; approve or deny it with kubectl certificate`,
      },
    ],
  });
  const foreign = { ...first, tokenMachine: "w-2" };
  test.each<[string, object, RequestFacts, number | undefined, string?]>([
    [
      "approves what may be approved, and says why",
      {
        steps: [
          { type: "approve", reason: "MachineBootstrap", message: "Machine w-1 joins with the token made for it" },
        ],
        status: undefined,
      },
      first,
      0,
    ],
    ["ignores a request for another signer", { steps: [], status: undefined }, { ...first, signer: "other" }, 0],
    [
      "checks again soon what may come right",
      { steps: [], status: undefined, wait: { for: "its bootstrap token is not known", until: now + 5_000 } },
      unknown,
      59_999,
    ],
    [
      "reports what did not come right in a minute",
      left("u", "its bootstrap token is not known"),
      unknown,
      60_000,
      "u",
    ],
    [
      "reports it at once where the age is not known",
      left("an unknown user", "its bootstrap token is not known"),
      unknown,
      undefined,
    ],
    [
      "leaves to a person at once what will not come right",
      left("u", "its bootstrap token was made for machine w-2"),
      foreign,
      0,
      "u",
    ],
  ])("%s", (_, expected, facts, age, username) => {
    expect(planned(facts, age, username)).toEqual(expected);
  });
});
