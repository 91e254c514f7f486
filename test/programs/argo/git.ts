import { mkdirSync, rmSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { execute } from "../run.ts";

const identity = {
  GIT_AUTHOR_NAME: "test",
  GIT_AUTHOR_EMAIL: "test@example.com",
  GIT_COMMITTER_NAME: "test",
  GIT_COMMITTER_EMAIL: "test@example.com",
  GIT_CONFIG_GLOBAL: "/dev/null",
  GIT_CONFIG_SYSTEM: "/dev/null",
};

/** A repository of manifests on this machine. */
export interface Repository {
  readonly url: string;
  /** Writes files (undefined: deletes one) and commits; the commit. */
  commit(files: Readonly<Record<string, string | undefined>>): Promise<string>;
}

export async function createRepository(dir: string): Promise<Repository> {
  mkdirSync(dir, { recursive: true });
  const git = async (...args: string[]): Promise<string> => {
    const { code, stdout, stderr } = await execute("git", ["-C", dir, ...args], { env: identity });
    if (code !== 0) throw new Error(`git ${args.join(" ")}: ${stderr}`);
    return stdout.trim();
  };
  await git("init", "--quiet", "--initial-branch=main");
  return {
    url: `file://${dir}`,
    async commit(files) {
      for (const [name, text] of Object.entries(files)) {
        const file = join(dir, name);
        mkdirSync(dirname(file), { recursive: true });
        if (text === undefined) rmSync(file);
        else writeFileSync(file, text);
      }
      await git("add", "--all");
      await git("commit", "--quiet", "--message", "change");
      return git("rev-parse", "HEAD");
    },
  };
}
