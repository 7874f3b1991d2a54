#!/usr/bin/env bash
# What the hook would be in bash, jq and node: the payload, git, surfaces by path, one file. A baseline, not a product.
set -eu
payload=$(cat)
session=$(jq -r '.session_id // "unknown"' <<<"$payload")
cwd=$(jq -r '.cwd' <<<"$payload")
cd "$cwd"
top=$(git rev-parse --show-toplevel)
branch=$(git rev-parse --abbrev-ref HEAD)
folder=$REFLECTION_DIR
mkdir -p "$folder"
lock=$folder/$session.lock
(set -o noclobber; echo $$ >"$lock") 2>/dev/null || exit 0
trap 'rm -f "$lock"' EXIT
files=$( (git status --porcelain=v2 -z --untracked-files=all --no-renames | tr '\0' '\n' | sed -E 's/^[12u] ([^ ]+ ){7}//; s/^\? //'
  git diff --name-only -z --no-renames HEAD -- | tr '\0' '\n') | sort -u)
lines=$(git diff --numstat --no-renames HEAD -- | awk '{a += $1; d += $2} END {print a + 0, d + 0}')
risk=$(printf '%s\n' "$files" | node -e '
  const files = require("fs").readFileSync(0, "utf8").split("\n").filter(Boolean);
  const rules = [["auth", 1, /auth|login|session|token|permission|rbac|credential|secret/i],
    ["data", .9, /migration|prisma|schema|\.sql|entity|repository|seed/i],
    ["infra", .85, /docker|\.woodpecker|compose|traefik|deploy|helm|k8s|terraform/i],
    ["build", .6, /package\.json|tsconfig|turbo\.json|pnpm-|\.config\.|eslint|vite/i],
    ["ui", .4, /\.tsx|\.css|components\/|apps\/web\//i], ["test", .2, /\.spec\.|\.test\.|__tests__\//i],
    ["docs", .1, /\.md|docs\//i]];
  const found = rules.find(([, , words]) => files.some(file => words.test(file))) ?? ["none", 0];
  console.log(JSON.stringify({needs_review: found[1] >= .5, score: found[1], surface: found[0], reason: process.argv[1]}));
' "$lines")
stamp=$(date -u +%Y-%m-%dT%H:%M:%S.%3NZ)
temporary=$(mktemp "$folder/.reflection.XXXXXX")
jq -n --arg session "$session" --arg branch "$branch" --arg repo "$(basename "$top")" --arg stamp "$stamp" \
  --arg files "$files" --argjson risk "$risk" '{schema: "reflection.v1", task_ref: ($repo + "@" + $branch),
  agent: "unknown", session_id: $session, timestamp: $stamp, repo: $repo, confidence: null, most_likely_wrong: null,
  known_not_in_diff: null, risk: $risk, files_changed: ($files | split("\n") | map(select(. != ""))),
  provenance: {source: "stop-hook", reflection_attempt: 1, degraded: true, reflection_mode: "solo"}}' >"$temporary"
sync "$temporary"
mv "$temporary" "$folder/$session-${stamp//:/}.reflection.json"
