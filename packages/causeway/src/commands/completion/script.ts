/** The words that may follow a command line, such as "causeway run". */
export interface Completed {
  readonly path: string;
  readonly words: readonly { readonly word: string; readonly text: string }[];
}

/** The completion script of a shell for these commands. */
export function scriptFor(shell: "bash" | "zsh" | "fish", commands: readonly Completed[]): string {
  if (shell === "fish") return fish(commands);
  const cases = commands.map(({ path, words }) => `    ${quoted(path)}) words=${quoted(wordsOf(words))} ;;`).join("\n");
  const known = commands.map(({ path }) => quoted(path)).join("|");
  // The command line up to the cursor, without options: as long as it is a known command, words of it are offered.
  const find = (at: string, words: string) => `  local path=causeway words="" word next
  for word in ${words}; do
    case "$word" in -*) continue ;; esac
    next="$path $word"
    case "$next" in ${known}) path=$next ;; *) break ;; esac
  done
  case "$path" in
${cases}
  esac
  ${at}`;
  if (shell === "bash")
    return `# bash completion of causeway
_causeway() {
${find('COMPREPLY=($(compgen -W "$words" -- "${COMP_WORDS[COMP_CWORD]}"))', '"${COMP_WORDS[@]:1:COMP_CWORD-1}"')}
}
complete -o default -F _causeway causeway
`;
  return `#compdef causeway
_causeway() {
${find("compadd -- ${=words}", '"${(@)words_typed}"').replace(
  '  local path=causeway words=""',
  '  local -a words_typed; words_typed=("${(@)words[2,CURRENT-1]}")\n  local path=causeway words=""',
)}
}
compdef _causeway causeway
`;
}

function fish(commands: readonly Completed[]): string {
  const lines = commands.flatMap(({ path, words }) => {
    const [, ...names] = path.split(" ");
    const seen = names.map((name) => `__fish_seen_subcommand_from ${name}`);
    const top = "__fish_use_subcommand";
    const when = seen.length === 0 ? top : seen.join("; and ");
    return words.map(({ word, text }) =>
      word.startsWith("--")
        ? `complete -c causeway -n ${quoted(when)} -l ${word.slice(2)} -d ${quoted(text)}`
        : word.startsWith("-")
          ? `complete -c causeway -n ${quoted(when)} -o ${word.slice(1)} -d ${quoted(text)}`
          : `complete -c causeway -n ${quoted(when)} -f -a ${word} -d ${quoted(text)}`,
    );
  });
  return `# fish completion of causeway\n${lines.join("\n")}\n`;
}

function wordsOf(words: Completed["words"]): string {
  return words.map(({ word }) => word).join(" ");
}

function quoted(text: string): string {
  return `'${text.replaceAll("'", "'\\''")}'`;
}
