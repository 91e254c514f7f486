import type { OpenStackService } from "@causeway/api";
import type { Component } from "../model/component.ts";
import { brokerCluster, databaseCluster, memcached } from "./backends.ts";
import { libvirt, nova } from "./compute.ts";
import { preflight } from "./fabric.ts";
import { barbican, glance, horizon, keystone, placement } from "./identity-image-placement.ts";
import { neutron, ovn } from "./network.ts";
import { cinder, designate, heat, manila, octavia } from "./storage-and-more.ts";

/** Services that are not deployed unless the deployment says so. */
const onRequest: ReadonlySet<OpenStackService> = new Set(["designate", "manila"]);

const byService: readonly (readonly [OpenStackService, readonly Component[]])[] = [
  ["mariadb", [databaseCluster()]],
  ["rabbitmq", [brokerCluster()]],
  ["memcached", [memcached]],
  ["keystone", keystone],
  ["glance", glance],
  ["placement", placement],
  ["barbican", barbican],
  ["ovn", [preflight, ...ovn]],
  ["neutron", neutron],
  ["libvirt", libvirt],
  ["nova", nova],
  ["cinder", cinder],
  ["heat", heat],
  ["octavia", octavia],
  ["designate", designate],
  ["manila", manila],
  ["horizon", horizon],
];

/** Every component that there can be, but for clusters of single services. */
export const allComponents: readonly Component[] = byService.flatMap(([, components]) => components);

/** The services of a deployment that names none: all but those of `onRequest`. */
export const defaultServices: readonly OpenStackService[] = byService
  .map(([service]) => service)
  .filter((service) => !onRequest.has(service));
