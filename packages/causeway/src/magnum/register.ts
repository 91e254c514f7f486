import type { Clock, Log } from "@causeway/foundation";
import { connectCloud, type CloudConfig } from "@causeway/openstack";

/** What a service is called in Keystone's catalog. */
const SERVICE = {
  type: "container-infra",
  name: "magnum",
  description: "Container Infrastructure Management Service",
} as const;

interface RegisterContext {
  readonly region: string | undefined;
  readonly clock: Clock;
  readonly log: Log;
  readonly signal: AbortSignal;
}

/**
 * The id of the domain of this name, made if there is none, as an administrator would with `openstack domain create`.
 */
export async function ensureDomain(
  admin: CloudConfig,
  name: string,
  { clock, log, signal }: Omit<RegisterContext, "region">,
): Promise<string> {
  const cloud = connectCloud(admin, { clock, log });
  const { domains } = cloud.identity;
  try {
    const find = async () => (await domains.all({ name }, { signal }))[0];
    const description = "Users of clusters of the Magnum API";
    const found = (await find()) ?? (await domains.create({ name, description }, { signal, recover: find }));
    return found.id;
  } finally {
    await cloud.close();
  }
}

/**
 * Has the cloud's catalog name the API at this URL, as an administrator would with `openstack service create`.
 * Repeating it changes what is wrong and leaves the rest.
 */
export async function registerMagnum(admin: CloudConfig, url: string, using: RegisterContext): Promise<void> {
  const { region, clock, log, signal } = using;
  const cloud = connectCloud(admin, { clock, log });
  const { identity } = cloud;
  try {
    const [known] = await identity.services.all({ type: SERVICE.type }, { signal });
    const service = known ?? (await identity.services.create(SERVICE, { signal }));
    const endpoints = await identity.endpoints.all({ service_id: service.id }, { signal });
    for (const face of ["public", "internal", "admin"] as const) {
      const found = endpoints.find((endpoint) => endpoint.interface === face && endpoint.service_id === service.id);
      if (found?.url === url) continue;
      if (found) await identity.endpoints.update(found.id, { url }, { signal });
      else
        await identity.endpoints.create(
          { service_id: service.id, interface: face, url, ...(region === undefined ? {} : { region_id: region }) },
          { signal },
        );
    }
  } finally {
    await cloud.close();
  }
}
