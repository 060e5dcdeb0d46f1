# The index of all architectures. A newer one: docker buildx imagetools inspect node:22-bookworm-slim
FROM node:22.23.3-bookworm-slim@sha256:43ac6c60b8f89723f746e8a92ce91abd5017e627ce1ddfe4238355d3a30b772c AS node

FROM node AS build
WORKDIR /build
COPY package.json package-lock.json .npmrc ./
RUN npm ci --ignore-scripts --no-audit --no-fund
COPY tsconfig.json ./
COPY src ./src
COPY workers ./workers
COPY web ./web
RUN node src/bundle.mjs && node web/build.mjs

FROM node AS dependencies
WORKDIR /build
COPY package.json package-lock.json .npmrc ./
RUN npm ci --omit=dev --ignore-scripts --no-audit --no-fund

FROM node
# decodes audio
RUN apt-get update && apt-get install -y --no-install-recommends ffmpeg && rm -rf /var/lib/apt/lists/*
# Linux keeps the environment and the memory of a program that cannot be read from other processes of its user, here
# from those that decode media.
RUN chmod 0711 /usr/local/bin/node
ENV NODE_ENV=production
WORKDIR /app
COPY package.json LICENSE ./
COPY proto ./proto
COPY src/guard-server/weights ./src/guard-server/weights
COPY --from=dependencies /build/node_modules ./node_modules
COPY --from=build /build/dist ./dist
# A new volume takes the owner of the folder that it covers.
RUN mkdir -p /data/runs /data/heads && chown -R node:node /data
USER node
# Without --out a run directory is made in ./runs.
WORKDIR /data
ENTRYPOINT ["node", "/app/dist/src/cli/main.js"]
CMD ["--help"]
