import { systemClock } from "@causeway/foundation";
import { issueToken, loadCloudsYaml } from "@causeway/openstack";
import { parameters } from "./heat-params.ts";

/** What Heat would have a server do: a script with its parameters, until the server reports how it ended. */
export interface Deployment {
  readonly id: string;
  readonly serverId: string;
  /** The name of the resource in the stack, such as master_config_deployment. */
  readonly resource: string;
  readonly parameters: Readonly<Record<string, string>>;
  /** Reports that it ended well. */
  done(): Promise<void>;
}

interface Row {
  readonly id: string;
  readonly config_id: string;
  readonly server_id: string;
  readonly status: string;
}
interface Config {
  readonly id: string;
  readonly config: string;
  readonly inputs: readonly { readonly name: string; readonly value: string }[];
}

interface Service {
  readonly type: string;
  readonly endpoints: readonly { readonly interface: string; readonly url: string }[];
}

/** Asks a service, by its type in the catalog, for what the typed clients have no method for. */
export type Requester = (method: string, service: string, path: string, body?: unknown) => Promise<unknown>;

export async function requester(entry: string, clouds: string): Promise<Requester> {
  const config = loadCloudsYaml({ cloud: entry, path: clouds });
  let { token } = await issueToken(config);
  const sendOnce = (method: string, url: string, body: unknown): Promise<Response> => {
    const headers = {
      "x-auth-token": token,
      "content-type": "application/json",
      "openstack-api-version": "container-infra latest",
    };
    return fetch(url, { method, headers, ...(body === undefined ? {} : { body: JSON.stringify(body) }) });
  };
  const send = async (method: string, url: string, body?: unknown): Promise<unknown> => {
    let response = await sendOnce(method, url, body);
    if (response.status === 401) {
      // A run may take longer than a token is valid.
      ({ token } = await issueToken(config));
      response = await sendOnce(method, url, body);
    }
    const text = await response.text();
    if (!response.ok) throw new Error(`${method} ${url}: ${response.status} ${text}`);
    return text === "" ? undefined : (JSON.parse(text) as unknown);
  };
  const listed = await send("GET", `${config.authUrl.replace(/\/v3$/, "")}/v3/auth/catalog`);
  const { catalog } = listed as { readonly catalog: readonly Service[] };
  return (method, service, path, body) => {
    const endpoints = catalog.find(({ type }) => type === service)?.endpoints ?? [];
    const url = endpoints.find((endpoint) => endpoint.interface === "public")?.url;
    if (url === undefined) throw new Error(`the catalog has no ${service}`);
    return send(method, `${url}${path}`, body);
  };
}

/** The deployments of these servers that wait for their servers. */
export async function waitingDeployments(ask: Requester, servers: readonly string[]): Promise<Deployment[]> {
  const found: Deployment[] = [];
  for (const server of servers) {
    const listed = (await ask("GET", "orchestration", `/software_deployments?server_id=${server}`)) as {
      software_deployments: readonly Row[];
    };
    const waiting = listed.software_deployments.filter(({ status }) => status === "IN_PROGRESS");
    if (waiting.length === 0) continue;
    const { metadata } = (await ask("GET", "orchestration", `/software_deployments/metadata/${server}`)) as {
      metadata: readonly Config[];
    };
    for (const { id, config_id } of waiting) {
      const config = metadata.find((one) => one.id === config_id);
      if (config === undefined) continue;
      const inputs = Object.fromEntries(config.inputs.map(({ name, value }) => [name, value]));
      const resource = inputs["deploy_resource_name"] ?? "";
      const path = `/stacks/${inputs["deploy_stack_id"] ?? ""}/resources/${resource}/signal`;
      found.push({
        id,
        serverId: server,
        resource,
        parameters: parameters(config.config),
        async done() {
          const body = { deploy_status_code: 0, deploy_stdout: "", deploy_stderr: "" };
          await ask("POST", "orchestration", path, body);
        },
      });
    }
  }
  return found;
}

/**
 * Plays heat-container-agent of all servers of the project: does what deployments say by `perform`, until the cluster
 * is complete. What one call of `perform` does not do is offered again.
 */
export async function followDeployments(
  ask: Requester,
  servers: () => Promise<readonly string[]>,
  perform: (waiting: readonly Deployment[]) => Promise<readonly Deployment[]>,
  status: () => Promise<string>,
): Promise<void> {
  const ended = new Set<string>();
  for (let seen = ""; ; await systemClock.sleep(1_000)) {
    const is = await status();
    if (is !== seen) console.log(`the old Magnum: ${is}`);
    seen = is;
    if (is.endsWith("_COMPLETE")) return;
    if (is.endsWith("_FAILED")) throw new Error(`the old Magnum's cluster is ${is}`);
    const waiting = (await waitingDeployments(ask, await servers())).filter(({ id }) => !ended.has(id));
    if (waiting.length === 0) continue;
    for (const deployment of await perform(waiting)) {
      await deployment.done();
      ended.add(deployment.id);
    }
  }
}
