import type { Log } from "@causeway/foundation";
import type { CloudConfig } from "./config.ts";
import { fingerprint } from "./fingerprint.ts";

/** Reads a config again where it came from: a mounted Secret, clouds.yaml, cloud.conf. */
export type ReloadConfig = () => CloudConfig;

/**
 * The current config. No file is watched: it is read again when there is a reason to, before each authentication and
 * after a certificate was refused. What cannot be read at that moment (a file that is being replaced) changes nothing.
 */
export class LiveConfig {
  #current: CloudConfig;
  #print: string;
  #changes = 0;
  readonly #reload: ReloadConfig | undefined;
  readonly #log: Log;

  constructor(config: CloudConfig, log: Log, reload?: ReloadConfig) {
    this.#current = config;
    this.#print = fingerprint(config);
    this.#reload = reload;
    this.#log = log;
  }

  get current(): CloudConfig {
    return this.#current;
  }

  /** How often it has changed. */
  get changes(): number {
    return this.#changes;
  }

  /** Reads again; true when anything is other than before, files of certificates included. */
  refresh(): boolean {
    const config = this.#read();
    const print = fingerprint(config);
    if (print === this.#print) return false;
    this.#current = config;
    this.#print = print;
    this.#changes += 1;
    this.#log.info("the cloud's configuration has changed and is used from now on", { cloud: config.name });
    return true;
  }

  #read(): CloudConfig {
    if (this.#reload === undefined) return this.#current;
    try {
      return this.#reload();
    } catch (error) {
      this.#log.warn("the cloud's configuration cannot be read again; the last one is kept", {
        cloud: this.#current.name,
        error,
      });
      return this.#current;
    }
  }
}
