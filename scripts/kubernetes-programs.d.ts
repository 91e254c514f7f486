export declare const root: string;
export interface Program {
    readonly name: string;
    /** The package that is built. */
    readonly source: string;
    /** For the linker. */
    readonly flags: string;
}
/** Where programs are, or why there are none. */
export type Built = {
    readonly dir: string;
} | {
    readonly reason: string;
};
/** Runs to the end, its output ours; the exit code. */
export declare function run(file: string, args: readonly string[], options: {
    cwd: string;
    env: NodeJS.ProcessEnv;
}): Promise<number>;
/** The release of a module that go.mod in this folder names. */
export declare function pinnedVersion(folder: string, module: string): string;
/** A folder of that name in the user's cache directory, made if need be. */
export declare function cached(name: string): string;
export declare function withoutGo(): {
    reason: string;
} | undefined;
/** Builds what is not in `dir` yet, from the module in `folder`. */
export declare function buildMissing(programs: readonly Program[], folder: string, dir: string): Promise<Built>;
/** `go build` by way of a name of this process's own, so that a half-written program is never run. */
export declare function build({ source, flags }: Program, folder: string, file: string): Promise<number>;
/** kube-apiserver, etcd and kubectl of the release in tools/kubernetes/go.mod. */
export declare function kubernetesBinaries(names: readonly string[]): Promise<Built>;
/** The upstream cloud controller manager of the release in tools/kubernetes/openstack/go.mod. */
export declare function cloudControllerBinary(): Promise<Built>;
