import { hasCode, messageOf } from "@causeway/foundation";
import { connectCloud } from "@causeway/openstack";
import { readConfiguration, type Configuration } from "./configuration.ts";
import type { Run } from "./manager.ts";
import { refusalReporter, type RefusalContext } from "./refused-services.ts";

/** Milliseconds between two reads of cloud.conf, and between two attempts with the same refused credentials. */
const PAUSE = 5_000;
const RETRY = 60_000;
/**
 * What users of the cluster and readers of /readyz get by each code; the log has the cloud's own words, which name its
 * addresses.
 */
const REFUSED = {
  OPENSTACK_UNAUTHORIZED: "they are wrong, expired or revoked.",
  OPENSTACK_FORBIDDEN: "they lack a role in their project.",
  CLOUD_CONFIG_INVALID: "its configuration is not valid.",
} as const;

interface Refusal {
  readonly error: string;
  readonly why: string;
}

/** Whether the cloud accepts the credentials of cloud.conf. Until it has done so once, the controller is not ready. */
export class Credentials {
  readonly #run: Pick<Run, "path"> & RefusalContext;
  readonly #report: (refusal: string, signal: AbortSignal) => Promise<void>;
  #refusal: string | undefined = "the cloud has not accepted the credentials yet";
  #logged: string | undefined;

  constructor(run: Pick<Run, "path"> & RefusalContext) {
    this.#run = run;
    this.#report = refusalReporter(run);
  }

  /**
   * Why the controller cannot work, without words of the cloud; undefined since the cloud has accepted the credentials.
   */
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
      const refusal = await this.#refusalOf(configuration, signal);
      if (signal.aborted) break;
      if (refusal === undefined) {
        this.#refusal = undefined;
        return configuration;
      }
      const { error, why } = refusal;
      if (error !== this.#logged) log.error("the cloud refuses the credentials of cloud.conf: not leading", { error });
      this.#logged = error;
      this.#refusal = `the cloud refuses the credentials: ${why}`;
      await this.#report(why, signal);
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

  async #refusalOf(configuration: Configuration, signal: AbortSignal): Promise<Refusal | undefined> {
    const { clock, log } = this.#run;
    const cloud = connectCloud(configuration.cloud, { clock, log });
    try {
      await cloud.projectId({ signal });
      return undefined;
    } catch (error) {
      const code = (Object.keys(REFUSED) as (keyof typeof REFUSED)[]).find((one) => hasCode(error, one));
      return code && { error: messageOf(error), why: REFUSED[code] };
    } finally {
      await cloud.close();
    }
  }
}
