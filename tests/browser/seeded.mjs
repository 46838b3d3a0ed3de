/* A service that is made up, so that every number on its page is known: what each path answers. The clock of its answers stands at `now`. */
const DAY = 86400;
export const now = Date.UTC(2026, 10, 16, 12) / 1000;

const guarantee = (epsilon, delta) => ({ epsilon, delta });
const about = (model, space, g) => ({ model, guarantee: g, agent: { kind: 'dp-ucbvi', sums: null, settings: [] }, space: { horizon: 1, stationary: false, ...space }, episodes: 1000 });
const figures = (limit, users, more) => ({ limit, accepted: users, users, refused: 0, left: limit - users, version: 12, learning: users < limit, reason: users < limit ? null : 'the budget is spent: all users have come', reward: null, reward_error: null, ...more });

/* 100 users a day for twenty days, then 50 a day for the ten before `now`: 2,500 users in all. */
const points = [];
for (let d = 30; d >= 0; d--) {
  const users = 100 * Math.min(30 - d, 20) + 50 * Math.max(10 - d, 0);
  if (users > 0) points.push({ users, at: now - d * DAY, version: 30 - d, reward: 0.5 + 0.2 * (1 - Math.exp(-users / 600)), error: 3 / users ** 0.9 });
}

const learners = {
  clinic: {
    figures: figures(10000, 2500, { reward: 0.697, reward_error: 0.0026 }), kind: 'dp-ucbvi', points,
    about: about('joint', { states: 2, actions: 3, horizon: 2, action_names: ['low dose', 'medium dose', '<b>high dose</b> of a name that does not fit'] }, guarantee(1, 1e-6)),
    monitor: guarantee(0.5, 0), together: guarantee(1.5, 1e-6),
    board: { policy: [[0, 1], [1, 1]] },
    releases: [['visits', 4, 9999, 2500, 12.5], ['moves', 8, 9999, 2500, 12.5], ['reward', 1, 9999, 2500, 2]],
  },
  phone: {
    figures: figures(500, 500, {}), kind: 'local-ucb', points: [{ users: 500, at: now - DAY, version: 1, reward: null, error: null }],
    about: about('local', { states: 3, actions: 2 }, guarantee(1, 0)), monitor: null, together: guarantee(1, 0),
    board: { mixed: [[[0.25, 0.75], [0.5, 0.5], [0.75, 0.25]]] },
    releases: [['visits', 4, 500, 500, 40]],
  },
  banner: {
    figures: figures(1e6, 0, {}), kind: 'lin-ucb', points: [],
    about: about('joint', { states: 0, actions: 3, features: 8, shared: true, bound: 1 }, guarantee(1, 1e-6)), monitor: null, together: guarantee(1, 1e-6),
    board: {}, releases: [['gram', 36, 1e6, 0, 118.25]],
  },
  many: {
    figures: figures(1000, 10, {}), kind: 'dp-ucbvi', points: [{ users: 10, at: now - 3600, version: 1, reward: null, error: null }],
    about: about('none', { states: 20, actions: 20 }, null), monitor: null, together: null,
    board: { policy: [Array.from({ length: 20 }, (_, s) => s)] }, releases: [],
  },
};

const metrics = `# HELP tacit_http_requests_total Answers
# TYPE tacit_http_requests_total counter
tacit_http_requests_total{method="POST",route="/v1/decide",status="2xx"} 2600
tacit_http_requests_total{method="POST",route="/v1/decide",status="4xx"} 17
tacit_http_requests_total{method="POST",route="/v1/observe",status="2xx"} 2500
tacit_http_requests_total{method="POST",route="/v1/observe",status="5xx"} 3
tacit_http_requests_total{method="POST",route="/v1/episodes/{id}/observe",status="2xx"} 12345678
tacit_http_request_seconds_sum{route="/v1/episodes/{id}/observe",method="POST"} 98765.432100
tacit_http_request_seconds_count{route="/v1/episodes/{id}/observe",method="POST"} 12345678
tacit_http_requests_total{method="any",route="unmatched",status="4xx"} 3
tacit_http_request_seconds_sum{route="/v1/decide",method="POST"} 0.0219
tacit_http_request_seconds_count{route="/v1/decide",method="POST"} 2617
tacit_http_request_seconds_sum{route="/v1/observe",method="POST"} 12.515
tacit_http_request_seconds_count{route="/v1/observe",method="POST"} 2503
tacit_store_commits_total 812
tacit_store_failures_total 1
tacit_start_time_seconds ${now - 30 * DAY}
`;

const person = { guarantee: null, composed: guarantee(2.2, 3e-6), devices: guarantee(1, 0), budget: null, people: 'shared', learners: 4, exact: 1, past: 0, sentences: ['for one person: no guarantee, because 1 of 4 learners works on exact data (model none)', 'Who takes part only in what has a guarantee pays epsilon 2.2, delta 3e-06.'] };

export const answers = { '/healthz': { status: 'ok', version: '0.0.0' }, '/metrics': metrics, '/v1/learners': { learners: [] } };
for (const [name, l] of Object.entries(learners)) {
  const costs = { monitor: l.monitor, together: l.together };
  answers['/v1/learners'].learners.push({ name, kind: l.kind, model: l.about.model, ...l.figures });
  answers[`/v1/ledger?learner=${name}`] = { learner: name, ...l.about, ...costs, ...l.figures, releases: l.releases.map(([n, dimension, declared, passed, scale]) => ({ name: n, dimension, declared, passed, left: declared - passed, scale })) };
  answers[`/v1/history?learner=${name}`] = { learner: name, points: l.points };
  answers[`/v1/guarantee?learner=${name}`] = { person, learner: name, ...l.about, plan: null, monitor: l.monitor ? { law: 'laplace', releases: [], accounted: null, two_lives: null } : null, together: l.together, lives: name === 'clinic' ? 2 : 1, adoptions: [], unsafe: name === 'phone', in_all_lives: guarantee(2.5, 2e-6), sentences: ['Everything that anybody but a user sees is indistinguishable when that user is replaced.', 'A user is one episode.'], remark: '' };
  answers[`/v1/billboard?learner=${name}`] = { learner: name, version: l.figures.version, users: l.figures.users, ...l.about, ...costs, ...l.board };
}

/* A script that puts these answers in the place of the network. */
export const script = `window.seeded = ${JSON.stringify(answers)};
window.fetch = async (path) => {
  const body = seeded[path];
  if (body === undefined) throw new Error('nothing is answered to ' + path);
  return new Response(typeof body === 'string' ? body : JSON.stringify(body), { status: 200, headers: { date: new Date(${1000 * now}).toUTCString() } });
};`;
