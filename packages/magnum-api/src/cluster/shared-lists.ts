import { unlessAborted } from "@causeway/foundation";

/** Lists something of a project, with the credential of the one that calls. */
export type ListOf<T> = (signal: AbortSignal) => Promise<T>;

/** Lists that several clusters of a project need at one moment. */
export interface SharedLists<T> {
  read(project: string, list: ListOf<T>, signal: AbortSignal): Promise<T>;
}

/** Of one project: the list that is under way, and the one after it. */
interface Lists<T> {
  readonly current: Promise<T>;
  next?: Promise<T>;
}

/**
 * One list of a project at a time. One that is under way may lack what came after it began: those that come meanwhile
 * share the next one, so that any number of clusters that are deleted at once costs two lists. A list that fails with
 * the credential of another one is read again with one's own.
 */
export function createSharedLists<T>(): SharedLists<T> {
  const known = new Map<string, Lists<T>>();
  const begin = (project: string, list: () => Promise<T>): Promise<T> => {
    const lists: Lists<T> = { current: list() };
    known.set(project, lists);
    const ended = (): void => {
      if (lists.next === undefined) known.delete(project);
    };
    lists.current.then(ended, ended);
    return lists.current;
  };
  return {
    async read(project, list, signal) {
      const lists = known.get(project);
      const own = (): Promise<T> => list(signal);
      if (lists === undefined) return begin(project, own);
      let isOwn = false;
      const after = (): Promise<T> => begin(project, own);
      if (lists.next === undefined) {
        isOwn = true;
        lists.next = lists.current.then(after, after);
      }
      try {
        return await unlessAborted(lists.next, signal);
      } catch (error) {
        if (isOwn || signal.aborted) throw error;
        return own();
      }
    },
  };
}
