import { InputError, messageOf, readTextFile, type Clock, type Log } from "@causeway/foundation";
import { ConfigMap, createInformers, type KubernetesClient } from "@causeway/kubernetes";

/** The current value of a configuration that may change while the program runs. */
export interface Live<T> {
  readonly current: T;
}

/** How a configuration is read, wherever it is. */
export interface LiveOptions<T> {
  /** For the log: "authorization policy". */
  readonly what: string;
  /** Throws for a text that cannot be used. */
  readonly read: (text: string) => T;
  /** Where the configuration is absent. */
  readonly absent: T;
  readonly clock: Clock;
  readonly log: Log;
  readonly signal: AbortSignal;
}

const NAMESPACE = "kube-system";
/** Mounted ConfigMaps change by a link, of which no file event reports. */
const PAUSE = 5_000;
const LARGEST = 4 * 1024 * 1024;

/** A value without a source. */
export function fixed<T>(current: T): Live<T> {
  return { current };
}

/** Follows a file. What cannot be used at the start is thrown; later it is logged, and the last good value remains. */
export function fromFile<T>(path: string, options: LiveOptions<T>): Live<T> {
  const first = readFirst(path, options.what);
  const holder = hold(options, options.read(first));
  void follow(path, first, holder, options);
  return holder.live;
}

function readFirst(path: string, what: string): string {
  try {
    return readTextFile(path, LARGEST);
  } catch (cause) {
    throw new InputError("KEYSTONE_AUTH_FILE_UNREADABLE", `The ${what} ${path} cannot be read: ${messageOf(cause)}`, {
      cause,
      hint: "Specify the path of a file that this user may read.",
    });
  }
}

async function follow<T>(
  path: string,
  first: string,
  holder: Holder<T>,
  { clock, log, signal, what }: LiveOptions<T>,
): Promise<void> {
  let last = first;
  let problem = "";
  for (;;) {
    try {
      await clock.sleep(PAUSE, signal);
    } catch {
      return;
    }
    try {
      const content = readTextFile(path, LARGEST);
      if (content !== last) holder.take(content);
      last = content;
      problem = "";
    } catch (error) {
      const message = messageOf(error);
      if (message !== problem)
        log.warn(`the ${what} cannot be read; the last valid one remains in use`, { path, error: message });
      problem = message;
    }
  }
}

/** A ConfigMap of namespace kube-system. */
export interface ConfigMapSource {
  readonly client: KubernetesClient;
  readonly name: string;
  /** The key of its data. */
  readonly key: string;
}

/**
 * Follows a ConfigMap of kube-system, which has to be there at the start. When it is deleted, the value is `absent`, as
 * upstream has it.
 */
export async function fromConfigMap<T>(source: ConfigMapSource, options: LiveOptions<T>): Promise<Live<T>> {
  const { client, name, key } = source;
  const found = await client.get(ConfigMap, { namespace: NAMESPACE, name }, { signal: options.signal });
  const holder = hold(options, options.read(found.data?.[key] ?? ""));
  const informers = createInformers(client, { clock: options.clock, log: options.log });
  const informer = informers.for(ConfigMap, { namespace: NAMESPACE, fieldSelector: `metadata.name=${name}` });
  let last: string | undefined = found.data?.[key] ?? "";
  informer.onChange(({ type, object }) => {
    if (object.metadata.name !== name) return;
    const content = type === "deleted" ? undefined : (object.data?.[key] ?? "");
    if (content === last) return;
    last = content;
    if (content === undefined) holder.drop();
    else holder.take(content);
  });
  informers
    .run(options.signal)
    .catch((error: unknown) => options.log.warn(`the ${options.what} is no longer followed`, { error }));
  return holder.live;
}

interface Holder<T> {
  readonly live: Live<T>;
  take(text: string): void;
  drop(): void;
}

function hold<T>({ what, read, absent, log }: LiveOptions<T>, first: T): Holder<T> {
  const live = { current: first };
  return {
    live,
    take(content) {
      try {
        live.current = read(content);
        log.info(`the ${what} has changed and is in use`);
      } catch (error) {
        log.error(`the new ${what} is refused; the last valid one remains in use`, { error: messageOf(error) });
      }
    },
    drop() {
      live.current = absent;
      log.warn(`the ${what} was deleted`);
    },
  };
}
