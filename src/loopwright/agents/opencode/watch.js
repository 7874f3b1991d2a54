// A plugin of opencode for its turns in Loopwright: it reports refusals of the model with their codes, and ends endless retries.
// opencode itself waits for as long as a refusal says, and retries forever after an answer that was cut off.
const MOST_FAILURES = 3
const LONGEST_WAIT_S = 60
const GIVEN_UP = 75

export const Loopwright = async () => {
  let failures = 0
  let sessionID
  const say = (record) => process.stdout.write(JSON.stringify(record) + "\n")
  const failed = (record) => {
    failures += 1
    const given_up = failures >= MOST_FAILURES || record.wait_s > LONGEST_WAIT_S
    say({ type: "loopwright", sessionID, ...record, given_up })
    if (given_up) setTimeout(() => process.exit(GIVEN_UP), 50)
  }
  const fetched = globalThis.fetch
  globalThis.fetch = Object.assign(async (...given) => {
    let answer
    try {
      answer = await fetched(...given)
    } catch (problem) {
      failed({ status: 0, wait_s: 0, message: String(problem) })
      throw problem
    }
    if (answer.status === 429 || answer.status >= 500) {
      const after = answer.headers.get("retry-after")
      const wait_s = Number(after) || (Date.parse(after) - Date.now()) / 1000 || 0
      failed({ status: answer.status, wait_s })
    }
    return answer
  }, fetched)
  return {
    // Only opencode's own npm is offline: an install in the work has to report what it can't reach.
    "shell.env": async (_, output) => {
      if (process.env.npm_config_offline) output.env.npm_config_offline = ""
    },
    event: async ({ event }) => {
      // Reported before the model answers: after a crash the next turn can resume the session.
      if (event.type === "session.status" && !sessionID) {
        sessionID = event.properties.sessionID
        say({ type: "loopwright.session", sessionID })
      }
      const part = event.type === "message.part.updated" ? event.properties.part : undefined
      if (part?.type !== "step-finish") return
      if (part.reason === "unknown") failed({ status: 0, wait_s: 0, message: "the answer was cut off" })
      else failures = 0
    },
  }
}
