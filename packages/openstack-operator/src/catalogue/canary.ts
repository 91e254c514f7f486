import type { Component } from "../model/component.ts";
import { identity, job, needs, SERVICE_UID } from "./words.ts";

/** Its user and its project; accounts of later generations have a number behind it. */
export const CANARY = "causeway-canary";
const ACCOUNT = `${CANARY}.identity`;
const METRICS_PORT = 9180;

/** A user of the cloud, with no right that another user lacks, and the Job that makes its account. */
export const canaryComponents: readonly Component[] = [
  job("nova", {
    name: "canary-register",
    does: "Registers the user and the project of the canary in Keystone.",
    image: "keystone",
    command: ["/usr/bin/python3", "/programs/register.py", "/programs/canary.json"],
    configuration: [],
    connections: [identity],
    after: ["keystone-bootstrap"],
    secrets: [ACCOUNT, "keystone.admin"],
    programs: ["register.py", "canary.json"],
  }),
  {
    name: "canary",
    service: "nova",
    kind: "Deployment",
    image: "keystone",
    command: ["/usr/bin/python3", "/programs/canary.py", "serve", String(METRICS_PORT)],
    placement: "Control",
    scale: "One",
    ports: [{ name: "metrics", port: METRICS_PORT }],
    connections: [identity, needs("nova-api", "api"), needs("neutron-server", "api"), needs("glance-api", "api")],
    after: ["canary-register", "nova-discover-hosts"],
    secrets: [ACCOUNT],
    programs: ["canary.py"],
    probe: { ask: "tcp", port: "metrics" },
    // What a run leaves is deleted by the next one.
    grace: { seconds: 5 },
    pings: true,
    resources: { cpu: "10m", memory: "96Mi" },
    uid: SERVICE_UID,
    does: "Boots a server, pings it and deletes it, as a user does, and reports which phase fails.",
  },
];
