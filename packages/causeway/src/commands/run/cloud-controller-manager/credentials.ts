import { hasCode, messageOf } from "@causeway/foundation";
import { connectCloud } from "@causeway/openstack";
import { readConfiguration, type Configuration } from "./configuration.ts";
import type { Run } from "./manager.ts";
import { reportRefusal, type RefusalContext } from "./refused-services.ts";

/** Milliseconds between two reads of cloud.conf, and between two attempts with the same refused credentials. */
const PAUSE = 5_000;
const RETRY = 60_000;
const REFUSED = ["OPENSTACK_UNAUTHORIZED", "OPENSTACK_FORBIDDEN", "CLOUD_CONFIG_INVALID"];

/** Whether the cloud accepts the credentials of cloud.conf. Until it has done so once, the controller is not ready. */
export class Credentials {
  readonly #run: Pick<Run, "path"> & RefusalContext;
  #refusal: string | undefined = "the cloud has not accepted the credentials yet";

  constructor(run: Pick<Run, "path"> & RefusalContext) {
    this.#run = run;
  }

  /** Why the controller cannot work; undefined since the cloud has accepted the credentials. */
  get refusal(): string | undefined {
    return this.#refusal;
  }

  /**
   * Resolves with the first configuration whose credentials the cloud does not refuse; undefined when the signal
   * aborts. cloud.conf is read again for each attempt. A cloud that cannot be reached is no refusal: the controllers
   * retry.
   */
  async whenAccepted(first: Configuration, signal: AbortSignal): Promise<Configuration | undefined> {
    const { log } = this.#run;
    for (let configuration = first; !signal.aborted; configuration = await this.#next(configuration, signal)) {
      const error = await this.#refusalOf(configuration, signal);
      if (signal.aborted) break;
      if (error === undefined) {
        this.#refusal = undefined;
        return configuration;
      }
      if (error !== this.#refusal) log.error("the cloud refuses the credentials of cloud.conf: not leading", { error });
      this.#refusal = error;
      await reportRefusal(this.#run, error, signal);
    }
    return undefined;
  }

  /** The configuration once it has changed; the same one when it is time to try it again. */
  async #next(current: Configuration, signal: AbortSignal): Promise<Configuration> {
    const { clock, path } = this.#run;
    for (let waited = 0; waited < RETRY && !signal.aborted; waited += PAUSE) {
      await clock.sleep(PAUSE, signal).catch(() => {});
      try {
        const found = readConfiguration(path);
        if (found.version !== current.version) return found;
      } catch {
        // It is being written; the next read finds it whole.
      }
    }
    return current;
  }

  async #refusalOf(configuration: Configuration, signal: AbortSignal): Promise<string | undefined> {
    const { clock, log } = this.#run;
    const cloud = connectCloud(configuration.cloud, { clock, log });
    try {
      await cloud.projectId({ signal });
      return undefined;
    } catch (error) {
      return REFUSED.some((code) => hasCode(error, code)) ? messageOf(error) : undefined;
    } finally {
      await cloud.close();
    }
  }
}
