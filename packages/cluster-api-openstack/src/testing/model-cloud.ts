import { DryRunCloud } from "../dry-run/cloud.ts";
import { external, externalSubnet, flavors, identity, images, projectId } from "./objects.ts";

/** A cloud of values that plans are played on in tests: an external network, flavors, images and zones. */
export class ModelCloud extends DryRunCloud {
  constructor() {
    super({
      projectId,
      identity,
      region: "RegionOne",
      networks: [external],
      subnets: [externalSubnet],
      routers: [],
      ports: [],
      securityGroups: [],
      floatingIps: [],
      servers: [],
      volumes: [],
      images,
      flavors,
      serverGroups: [],
      loadBalancing: {
        available: true,
        providers: ["amphora", "ovn"],
        loadBalancers: [],
        listeners: [],
        pools: [],
        members: new Map(),
        withoutMonitors: [],
      },
      zones: [
        { zoneName: "nova", zoneState: { available: true } },
        { zoneName: "az2", zoneState: { available: true } },
        { zoneName: "broken", zoneState: { available: false } },
      ],
    });
  }

  /** Everything that is there in addition to the external network, as "type name". */
  get inventory(): string[] {
    const groups = {
      networks: this.networks.slice(1),
      subnets: this.subnets.slice(1),
      routers: this.routers,
      ports: this.ports,
      securityGroups: this.securityGroups,
      loadBalancers: this.loadBalancers,
      listeners: this.listeners,
      servers: this.servers,
      volumes: this.volumes,
    };
    const named = Object.entries(groups).flatMap(([type, list]) => list.map((r) => `${type} ${r.name}`));
    return [...named, ...this.floatingIps.map((ip) => `floatingIps ${ip.description}`)].sort();
  }
}
